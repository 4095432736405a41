//! How many messages one side of a gRPC call sends (gRPC over HTTP/2, "Length-Prefixed-Message").
//!
//! A message begins with five bytes: whether it is compressed, and its length. The walker keeps the first bytes of
//! every DATA frame and the lengths of all, which is enough to tell one message from more: where there is only one,
//! it is all of the data.

use super::frame::{Frame, flag};

/// Bytes before each message.
const PREFIX: usize = 5;

/// The DATA frames of one side of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Messages {
    /// What precedes the first message.
    prefix: [u8; PREFIX],
    held: usize,
    /// All of the data without the padding.
    bytes: u64,
    /// How much of the current frame's payload was looked at without a gap.
    position: u32,
    /// The length of the current frame's padding is still to come.
    padding: bool,
    /// Something that had to be seen was not.
    unknown: bool,
}

impl Messages {
    /// Takes in the first piece of a DATA frame.
    pub(super) fn begin(&mut self, frame: &Frame<'_>) {
        if self.padding || self.misses_prefix() {
            self.unknown = true;
        }
        self.position = 0;
        self.padding = frame.has(flag::PADDED);
        self.bytes += u64::from(frame.length).saturating_sub(u64::from(self.padding));
        self.go_on(frame);
    }

    /// Takes in a piece of the current DATA frame.
    pub(super) fn go_on(&mut self, frame: &Frame<'_>) {
        if frame.offset != self.position {
            return;
        }
        for &byte in frame.data {
            self.position += 1;
            if self.padding {
                self.padding = false;
                // Padding as long as the rest or longer is a protocol error (RFC 9113, section 6.1).
                self.bytes = self.bytes.saturating_sub(u64::from(byte));
            } else if let Some(slot) = self.prefix.get_mut(self.held)
                && (self.held as u64) < self.bytes
            {
                *slot = byte;
                self.held += 1;
            } else {
                return;
            }
        }
    }

    /// Whether there is certainly more than one message.
    pub(super) fn are_many(&self) -> bool {
        if self.unknown || self.padding || self.held < PREFIX {
            return false;
        }
        let [_, length @ ..] = self.prefix;
        self.bytes > PREFIX as u64 + u64::from(u32::from_be_bytes(length))
    }

    /// Whether there was any data.
    pub(super) const fn any(&self) -> bool {
        self.bytes != 0
    }

    /// Whether the first bytes have passed without having been kept.
    fn misses_prefix(&self) -> bool {
        self.held < PREFIX && (self.held as u64) < self.bytes
    }
}
