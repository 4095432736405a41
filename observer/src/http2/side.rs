//! What is followed of one direction of a connection.

use observer_common::Timestamp;

use super::{
    blocks::{Blocks, Head, Step},
    fields::Fields,
    frame::Frame,
    hpack::Decoder,
    order::Order,
};

/// Bytes of `RST_STREAM` and GOAWAY that are looked at.
const CONTROL: usize = 8;

/// One direction.
#[derive(Debug)]
pub(super) struct Side {
    /// What passed behind a hole.
    pub(super) order: Order,
    blocks: Blocks,
    decoder: Decoder,
    /// What the last header block says.
    pub(super) fields: Fields,
    control: [u8; CONTROL],
    held: usize,
}

/// What a piece brought about.
#[derive(Debug)]
pub(super) enum Passed {
    /// Nothing yet.
    Nothing,
    /// A header block is complete; what it says is in [`Side::fields`].
    Block(Head),
    /// A piece of another frame.
    Other,
    /// The pieces do not fit together.
    Lost,
}

impl Side {
    pub(super) fn new(from_the_start: bool) -> Self {
        Self {
            order: Order::default(),
            blocks: Blocks::new(),
            decoder: Decoder::new(from_the_start),
            fields: Fields::default(),
            control: [0; CONTROL],
            held: 0,
        }
    }

    /// Pieces were missed.
    pub(super) fn lose(&mut self) {
        self.blocks.lose();
        self.decoder.lose();
        self.held = 0;
    }

    /// Takes in a piece.
    pub(super) fn observe(&mut self, frame: &Frame<'_>) -> Passed {
        match self.blocks.observe(frame) {
            Step::Other => Passed::Other,
            Step::Partial => Passed::Nothing,
            Step::Headless => {
                // Fields that could not be read may have been added to the table.
                self.decoder.lose();
                Passed::Nothing
            }
            Step::Lost => Passed::Lost,
            Step::Complete(head, block) => {
                let fields = &mut self.fields;
                fields.clear(block.is_some());
                match block {
                    Some(block) => {
                        if self.decoder.decode(block, |field| fields.add(field)).is_err() {
                            fields.clear(false);
                        }
                    }
                    None => self.decoder.lose(),
                }
                Passed::Block(head)
            }
        }
    }

    /// Takes in a piece of `RST_STREAM` or GOAWAY. When it is complete: when, and what was kept of its payload.
    pub(super) fn control(&mut self, frame: &Frame<'_>) -> Option<(Timestamp, &[u8])> {
        if frame.offset == 0 {
            self.held = 0;
        }
        if usize::try_from(frame.offset).ok() == Some(self.held) {
            for (slot, &byte) in self.control.iter_mut().skip(self.held).zip(frame.data) {
                *slot = byte;
                self.held += 1;
            }
        }
        let kept = self.control.get(..self.held)?;
        frame.complete.then_some((frame.now, kept))
    }

    /// Whether every header field can be read.
    #[cfg(test)]
    pub(super) const fn is_certain(&self) -> bool {
        self.decoder.is_certain()
    }

    /// Bytes of memory in use.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.blocks.held() + self.decoder.held() + self.order.held()
    }
}
