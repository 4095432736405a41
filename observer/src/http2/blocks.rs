//! Header blocks, put together from frames and pieces of frames (RFC 9113, section 4.3).

use observer_common::Timestamp;

use super::frame::{Frame, flag, kind};

/// Bytes of a header block that are kept. Common servers refuse requests far below.
pub(super) const MOST_BYTES: usize = 64 * 1024;

/// The header block that passes in one direction.
#[derive(Debug)]
pub(super) struct Blocks {
    state: State,
    /// What the block's first frame says.
    head: Head,
    /// The kind and length of the current frame.
    kind: u8,
    length: u32,
    flags: u8,
    /// How much of the current frame's payload has passed.
    passed: u32,
    /// Where in `bytes` the current frame's payload begins.
    begin: usize,
    bytes: Vec<u8>,
    /// Whether bytes are missing: too many, or not kept.
    cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No block has begun.
    Outside,
    /// A frame of the block is passing.
    Within,
    /// The next frame must be a CONTINUATION.
    Between,
}

/// What is known of a block besides its fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// HEADERS or `PUSH_PROMISE`.
    pub(super) kind: u8,
    /// The stream.
    pub(super) stream: u32,
    /// Of `PUSH_PROMISE`: the stream to come (section 6.6), 0 where it was not seen.
    pub(super) promised: u32,
    /// Whether the sender has nothing more to say on the stream.
    pub(super) ends_stream: bool,
    /// When its first byte passed.
    pub(super) start: Timestamp,
    /// When the latest of its pieces passed.
    pub(super) last: Timestamp,
    /// Payload bytes of all its frames.
    pub(super) bytes: u64,
}

/// What a frame means for the block.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// It is not one of a block, and no block is open.
    Other,
    /// There is more of the block to come.
    Partial,
    /// The block is complete. Its fields, or nothing where they were not all seen.
    Complete(Head, Option<&'a [u8]>),
    /// A piece of a block whose beginning was not seen.
    Headless,
    /// It cannot follow what passed before: something is missing, or somebody breaks the protocol.
    Lost,
}

impl Blocks {
    pub(super) const fn new() -> Self {
        Self {
            state: State::Outside,
            head: Head {
                kind: 0,
                stream: 0,
                promised: 0,
                ends_stream: false,
                start: Timestamp(0),
                last: Timestamp(0),
                bytes: 0,
            },
            kind: 0,
            length: 0,
            flags: 0,
            passed: 0,
            begin: 0,
            bytes: Vec::new(),
            cut: false,
        }
    }

    /// Forgets the block that was passing.
    pub(super) fn lose(&mut self) {
        self.state = State::Outside;
        self.bytes.clear();
    }

    /// Bytes of memory in use.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.bytes.capacity()
    }

    /// Takes in the next piece.
    pub(super) fn observe(&mut self, frame: &Frame<'_>) -> Step<'_> {
        match self.state {
            State::Outside if !frame.is_header() => return Step::Other,
            State::Outside if frame.offset != 0 || frame.kind == kind::CONTINUATION => {
                return Step::Headless;
            }
            State::Outside => {
                self.bytes.clear();
                self.cut = false;
                self.head = Head {
                    kind: frame.kind,
                    stream: frame.stream,
                    promised: 0,
                    ends_stream: frame.ends_stream(),
                    start: frame.now,
                    last: frame.now,
                    bytes: 0,
                };
                self.enter(frame);
            }
            State::Between => {
                let continues =
                    frame.kind == kind::CONTINUATION && frame.stream == self.head.stream && frame.offset == 0;
                if !continues {
                    return Step::Lost;
                }
                self.enter(frame);
            }
            State::Within => {
                let continues = frame.kind == self.kind
                    && frame.stream == self.head.stream
                    && frame.length == self.length
                    && frame.flags == self.flags
                    && frame.offset == self.passed;
                if !continues {
                    return Step::Lost;
                }
            }
        }
        self.take(frame)
    }

    fn enter(&mut self, frame: &Frame<'_>) {
        self.state = State::Within;
        self.kind = frame.kind;
        self.length = frame.length;
        self.flags = frame.flags;
        self.passed = 0;
        self.begin = self.bytes.len();
        self.head.bytes += u64::from(frame.length);
    }

    fn take(&mut self, frame: &Frame<'_>) -> Step<'_> {
        let Some(passed) = u32::try_from(frame.data.len())
            .ok()
            .and_then(|length| self.passed.checked_add(length))
            .filter(|&passed| passed <= self.length)
        else {
            return Step::Lost;
        };
        self.passed = passed;
        self.head.last = self.head.last.max(frame.now);
        if self.bytes.len() + frame.data.len() > MOST_BYTES {
            self.cut = true;
        }
        if !self.cut {
            self.bytes.extend_from_slice(frame.data);
        }
        if !frame.complete {
            return Step::Partial;
        }
        if self.passed != self.length || !self.strip() {
            self.cut = true;
        }
        if !frame.has(flag::END_HEADERS) {
            self.state = State::Between;
            return Step::Partial;
        }
        self.state = State::Outside;
        Step::Complete(self.head, if self.cut { None } else { Some(&self.bytes) })
    }

    /// Takes away what surrounds the fields in the frame that has passed. Whether it was there as it must be.
    fn strip(&mut self) -> bool {
        if self.cut {
            return false;
        }
        let Some(payload) = self.bytes.get(self.begin..) else { return false };
        let padded = self.kind != kind::CONTINUATION && self.flags & flag::PADDED != 0;
        let (padding, mut before) = match payload.first() {
            Some(&padding) if padded => (usize::from(padding), 1),
            None if padded => return false,
            _ => (0, 0),
        };
        if self.kind == kind::HEADERS && self.flags & flag::PRIORITY != 0 {
            before += 5;
        }
        if self.kind == kind::PUSH_PROMISE {
            let promised = payload.get(before..before + 4).and_then(|bytes| bytes.try_into().ok());
            let Some(promised) = promised else { return false };
            self.head.promised = u32::from_be_bytes(promised) & 0x7fff_ffff;
            before += 4;
        }
        if before + padding > payload.len() {
            return false;
        }
        self.bytes.truncate(self.bytes.len() - padding);
        self.bytes.drain(self.begin..self.begin + before);
        true
    }
}
