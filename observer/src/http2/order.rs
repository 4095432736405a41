//! Pieces of one direction whose segments passed in another order than that of their bytes.

use observer_common::{Place, Timestamp};

use super::frame::{Frame, kind};

/// Bytes of pieces that are held back behind a hole, what is known of each included.
const MOST_BYTES: usize = 64 * 1024;

/// What is held back of one direction, and what its pieces are numbered.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The number of the last piece.
    last: u32,
    state: State,
    /// The largest stream that was open when the hole was told of.
    newest: u32,
    pieces: Vec<Piece>,
    bytes: Vec<u8>,
}

/// How the hole stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// There is none.
    #[default]
    Straight,
    /// What is behind it waits.
    Waiting,
    /// It was taken for a gap: what is behind it does not wait, and what fills it comes too late.
    GivenUp,
}

/// A piece that is held back.
#[derive(Debug)]
struct Piece {
    frame: Frame<'static>,
    /// How many of the bytes are its own.
    kept: usize,
}

/// What is to be done about a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is its turn.
    Now,
    /// It waits, unless there is no room.
    Later,
    /// It comes too late.
    Never,
    /// The hole is filled, and what waited behind it is next.
    Filled,
    /// The hole is filled, and what was told behind it is wrong.
    Wrong,
    /// The hole is a gap.
    Gap,
}

impl Order {
    /// How many pieces are missing before this one.
    pub(super) fn missing(&mut self, number: u32) -> u32 {
        let missing = number.wrapping_sub(self.last).wrapping_sub(1);
        self.last = number;
        missing
    }

    /// Whether pieces wait for a hole to be filled.
    pub(super) fn waits(&self) -> bool {
        self.state == State::Waiting
    }

    /// Takes the hole for a gap, also one that was not told of yet.
    pub(super) fn give_up(&mut self) {
        self.state = State::GivenUp;
    }

    /// There is no hole any more.
    pub(super) fn go_straight(&mut self) {
        self.state = State::Straight;
    }

    /// The largest stream that was open when the hole was told of.
    pub(super) fn newest(&self) -> u32 {
        self.newest
    }

    /// What is to be done about the next piece.
    pub(super) fn turn(&mut self, frame: &Frame<'_>) -> Turn {
        match (frame.place, self.state) {
            (Place::InOrder, _) => {
                self.state = State::Straight;
                Turn::Now
            }
            (Place::Behind, State::GivenUp) => Turn::Now,
            (Place::Behind, _) => Turn::Later,
            (Place::Fills, State::GivenUp) => Turn::Never,
            (Place::Fills, _) => Turn::Now,
            (Place::Filled, _) => {
                self.state = State::Straight;
                if frame.complete { Turn::Filled } else { Turn::Wrong }
            }
            (Place::Missed, State::GivenUp) => {
                self.state = State::Straight; // that was told when it was given up
                Turn::Never
            }
            (Place::Missed, _) => Turn::Gap,
        }
    }

    /// Holds a piece back. False where there is no room.
    pub(super) fn hold(&mut self, frame: &Frame<'_>, newest: u32) -> bool {
        if self.state != State::Waiting {
            self.state = State::Waiting;
            self.newest = newest;
        }
        let kept = frame.data.len();
        if self.bytes.len() + kept + (self.pieces.len() + 1) * size_of::<Piece>() > MOST_BYTES {
            return false;
        }
        self.bytes.extend_from_slice(frame.data);
        self.pieces.push(Piece { frame: Frame { data: &[], ..*frame }, kept });
        true
    }

    /// Takes out what was held back.
    pub(super) fn release(&mut self) -> Released {
        Released { pieces: std::mem::take(&mut self.pieces), bytes: std::mem::take(&mut self.bytes) }
    }

    /// Bytes of memory in use.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.bytes.capacity() + self.pieces.capacity() * size_of::<Piece>()
    }
}

/// What was held back, in the order of its bytes.
#[derive(Debug)]
pub(super) struct Released {
    pieces: Vec<Piece>,
    bytes: Vec<u8>,
}

impl Released {
    /// Hands over every piece, as it passed.
    pub(super) fn each(&self, mut each: impl FnMut(&Frame<'_>)) {
        let mut bytes = self.bytes.as_slice();
        for piece in &self.pieces {
            let Some((data, rest)) = bytes.split_at_checked(piece.kept) else { return };
            bytes = rest;
            each(&Frame { data, ..piece.frame });
        }
    }
}

/// The same piece, as it could be read once what lay before it had come at `filled`.
///
/// What is asked counts as asked when it arrived, be it readable or not; everything else when it could be read.
pub(super) fn readable<'a>(frame: &Frame<'a>, asks: bool, filled: Timestamp) -> Frame<'a> {
    let arrived = asks && matches!(frame.kind, kind::DATA | kind::HEADERS | kind::CONTINUATION);
    Frame { now: if arrived { frame.now } else { frame.now.max(filled) }, ..*frame }
}
