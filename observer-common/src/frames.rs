//! Following length-prefixed frames through the segments of one direction.
//!
//! A walker knows where in the byte stream the next frame header stands. It never looks at more than headers, is fed
//! one segment after the other, and does one small step a call, so that the kernel can bound its loop.

use crate::{
    Timestamp,
    sequence::distance,
    volatile::{get, set},
};

/// Where the bytes of the segment at hand are.
pub trait PayloadBytes<const HEADER: usize> {
    /// The byte at `offset` of the payload.
    fn byte(&self, offset: u32) -> Option<u8>;

    /// Copies a whole header from `offset` of the payload into the beginning of `header`. False where it is not
    /// there.
    fn header(&self, offset: u32, header: &mut [u8; LONGEST_HEADER]) -> bool;
}

/// A payload in memory: from a capture.
impl<const HEADER: usize> PayloadBytes<HEADER> for &[u8] {
    #[inline(always)]
    fn byte(&self, offset: u32) -> Option<u8> {
        self.get(offset as usize).copied()
    }

    #[inline(always)]
    fn header(&self, offset: u32, header: &mut [u8; LONGEST_HEADER]) -> bool {
        let bytes = self.get(offset as usize..).and_then(|rest| rest.first_chunk::<HEADER>());
        match (bytes, header.first_chunk_mut::<HEADER>()) {
            (Some(bytes), Some(header)) => {
                *header = *bytes;
                true
            }
            _ => false,
        }
    }
}

/// The longest header that is followed: of HTTP/2.
pub const LONGEST_HEADER: usize = 9;

/// Follows the frames of one direction.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct Walker {
    /// When the segment at hand passed.
    pub now: Timestamp,
    /// Sequence number of the first byte that was not walked over yet.
    pub(crate) next: u32,
    /// Payload bytes of the current frame that are still to come.
    pub(crate) left: u32,
    /// How many records were made of this direction, and how many gaps it had.
    number: u32,
    /// Next byte of the segment at hand.
    pub(crate) at: u32,
    /// Behind the last byte of the segment at hand.
    pub(crate) end: u32,
    /// The header of the current frame, or as much of it as has come.
    pub(crate) header: [u8; LONGEST_HEADER],
    /// How many bytes of the next header have come.
    pub(crate) have: u8,
    /// Bits: see below.
    pub(crate) state: u8,
    /// What the last step was, in bits: see below.
    last: u8,
    /// How many bytes of payload it passed.
    bytes: u32,
    /// 1 where a segment passed since that nobody walked over.
    pub(crate) missed: u8,
    /// Keeps the layout free of holes.
    reserved: [u8; 3],
}

/// What a step walked over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and the kernel's compiler knows them as such"
)]
pub struct Passed {
    /// Whether there is more to walk over.
    pub more: bool,
    /// Whether it was a piece of a frame: something to tell.
    pub piece: bool,
    /// Whether the piece begins the frame.
    pub first: bool,
    /// Whether the piece ends the frame.
    pub complete: bool,
    /// Where in the segment's payload the piece of the frame's payload begins.
    pub at: u32,
    /// How long it is.
    pub bytes: u32,
    /// Where in the frame's payload it begins.
    pub offset: u32,
}

impl Walker {
    /// The position is known.
    pub(crate) const KNOWN: u8 = 1;
    /// The position was lost by a gap.
    pub(crate) const LOST: u8 = 1 << 1;
    /// Somebody is walking.
    const CLAIMED: u8 = 1 << 2;
    /// What is walked over at the moment is no frame.
    pub(crate) const SKIPS: u8 = 1 << 3;
    /// The current frame is one that counts.
    const COUNTS: u8 = 1 << 4;
    /// The segment at hand carries a part of such a frame.
    pub(crate) const CARRIES: u8 = 1 << 5;
    /// There is a hole, and where the walker stood at its beginning was set aside.
    pub(crate) const HOLE: u8 = 1 << 6;
    /// The walker stands in the hole, and where it has gone on behind it was set aside.
    pub(crate) const FILLING: u8 = 1 << 7;

    /// There is more to walk over.
    const MORE: u8 = 1;
    /// It was a piece of a frame.
    const PIECE: u8 = 1 << 1;
    /// The first one.
    const FIRST: u8 = 1 << 2;
    /// The last one.
    const COMPLETE: u8 = 1 << 3;

    /// Begins at the byte with this sequence number, `skipped` bytes before the first frame.
    #[inline(always)]
    pub const fn begin(&mut self, sequence: u32, skipped: u32) {
        self.next = sequence;
        self.left = skipped;
        self.have = 0;
        self.missed = 0;
        self.number = 0;
        self.state = Self::KNOWN | if skipped == 0 { 0 } else { Self::SKIPS };
    }

    /// Begins where nobody knows, at the next certain boundary: with whichever segment comes next.
    #[inline(always)]
    pub const fn begin_lost(&mut self) {
        self.begin(0, 0);
        self.state = Self::LOST;
    }

    /// Whether the position was lost.
    #[inline(always)]
    pub const fn is_lost(&self) -> bool {
        self.state & Self::LOST != 0
    }

    /// Takes the walker for one segment; false where another processor has it. Needs the connection's lock, against
    /// others who try: whoever has it, holds no lock, and must not find its state overwritten.
    #[inline(always)]
    pub const fn claim(&mut self) -> bool {
        let free = self.state & Self::CLAIMED == 0;
        if free {
            self.state |= Self::CLAIMED;
        }
        free
    }

    /// Whether somebody is walking.
    #[inline(always)]
    pub fn is_claimed(&self) -> bool {
        get(&self.state) & Self::CLAIMED != 0
    }

    /// Gives the walker back. What was not walked over is a gap.
    #[inline(always)]
    pub const fn release(&mut self) {
        self.state &= !Self::CLAIMED;
    }

    /// Takes up a segment: whether there is anything new in it. A gap that lies within the current frame is
    /// walked over, also `to_the_end` of it where that is wanted; any other loses the position.
    #[inline(always)]
    pub const fn admit(&mut self, now: Timestamp, sequence: u32, length: u32, to_the_end: bool) -> bool {
        if self.state & Self::KNOWN == 0 {
            // Whoever has claimed it, keeps it.
            self.next = sequence;
            self.state |= Self::KNOWN | Self::LOST;
        }
        let ahead = distance(self.next, sequence);
        self.now = now;
        self.at = 0;
        self.end = length;
        self.state &= !Self::CARRIES;
        if ahead < 0 {
            let seen = ahead.unsigned_abs();
            if seen >= length {
                return false;
            }
            self.at = seen;
        } else if ahead > 0 {
            let gap = ahead.unsigned_abs();
            // What ends a frame may end a stream, which must not go by unseen.
            let within = self.left > gap || (to_the_end && self.left == gap);
            if within && self.have == 0 {
                self.left -= gap;
            } else {
                self.state |= Self::LOST;
            }
        }
        self.next = sequence.wrapping_add(length);
        true
    }

    /// Whether all of the segment at hand is new.
    #[inline(always)]
    pub(crate) fn is_new(&self) -> bool {
        get(&self.at) == 0
    }

    /// The position is found again, at the beginning of the segment at hand.
    #[inline(always)]
    pub const fn found(&mut self) {
        self.state &= !(Self::LOST | Self::SKIPS);
        self.left = 0;
        self.have = 0;
        // Whoever counts the records sees that some are missing.
        self.number = self.number.wrapping_add(1);
    }

    /// The position is lost until the next certain boundary, and so is the segment at hand.
    #[inline(always)]
    pub fn lose(&mut self) {
        let state = get(&self.state);
        set(&mut self.state, state | Self::LOST);
    }

    /// One more record was made of this direction: its number, from 1.
    #[inline(always)]
    pub fn count(&mut self) -> u32 {
        let number = get(&self.number).wrapping_add(1);
        set(&mut self.number, number);
        number
    }

    /// The current frame's header.
    #[inline(always)]
    pub fn header(&self) -> [u8; LONGEST_HEADER] {
        get(&self.header)
    }

    /// Length of the segment at hand.
    #[inline(always)]
    pub fn segment_length(&self) -> u32 {
        get(&self.end)
    }

    /// Marks the current frame as one that counts, or not.
    #[inline(always)]
    pub fn mark(&mut self, counts: bool) {
        let state = get(&self.state);
        set(&mut self.state, if counts { state | Self::COUNTS } else { state & !Self::COUNTS });
    }

    /// Some payload of the current frame has passed: where the frame counts, so does the segment at hand.
    #[inline(always)]
    pub fn carry(&mut self) {
        let state = get(&self.state);
        if state & Self::COUNTS != 0 {
            set(&mut self.state, state | Self::CARRIES);
        }
    }

    /// The segment at hand counts, whatever is in it.
    #[inline(always)]
    pub fn carry_all(&mut self) {
        let state = get(&self.state);
        set(&mut self.state, state | Self::CARRIES);
    }

    /// Whether the segment at hand counts.
    #[inline(always)]
    pub fn carries(&self) -> bool {
        get(&self.state) & Self::CARRIES != 0
    }

    /// Walks over a header or a piece of a frame's payload. `payload_length` reads the length of a frame's payload
    /// from its header, `longest` says how much of it may be passed at once.
    #[inline(always)]
    pub fn step<const HEADER: usize>(
        &mut self,
        payload: &impl PayloadBytes<HEADER>,
        payload_length: impl Fn(&[u8; LONGEST_HEADER]) -> u32,
        longest: impl Fn(&[u8; LONGEST_HEADER]) -> u32,
    ) -> Passed {
        self.advance(payload, &payload_length, longest);
        // What was done is read back, so that all ways through the step are one again to the verifier.
        let last = get(&self.last);
        let bytes = get(&self.bytes);
        Passed {
            more: last & Self::MORE != 0,
            piece: last & Self::PIECE != 0,
            first: last & Self::FIRST != 0,
            complete: last & Self::COMPLETE != 0,
            at: get(&self.at).wrapping_sub(bytes),
            bytes,
            offset: payload_length(&get(&self.header)).wrapping_sub(get(&self.left)).wrapping_sub(bytes),
        }
    }

    #[inline(always)]
    fn advance<const HEADER: usize>(
        &mut self,
        payload: &impl PayloadBytes<HEADER>,
        payload_length: impl Fn(&[u8; LONGEST_HEADER]) -> u32,
        longest: impl Fn(&[u8; LONGEST_HEADER]) -> u32,
    ) {
        set(&mut self.last, 0);
        set(&mut self.bytes, 0);
        let at = get(&self.at);
        let end = get(&self.end);
        if at >= end {
            return;
        }
        let left = get(&self.left);
        if left != 0 {
            if get(&self.state) & Self::SKIPS != 0 {
                let bytes = least(left, end - at);
                set(&mut self.left, left - bytes);
                set(&mut self.at, at + bytes);
                if left == bytes {
                    let state = get(&self.state);
                    set(&mut self.state, state & !Self::SKIPS);
                }
                set(&mut self.last, Self::MORE);
                return;
            }
            let header = get(&self.header);
            self.pass(at, end, left, longest(&header), 0);
            return;
        }
        let have = get(&self.have);
        if have == 0 && end - at >= length(HEADER) {
            if !payload.header(at, &mut self.header) {
                self.lose();
                return;
            }
            let header = get(&self.header);
            self.pass(at + length(HEADER), end, payload_length(&header), longest(&header), Self::FIRST);
            return;
        }
        // A header in two segments comes byte by byte.
        let Some(byte) = payload.byte(at) else {
            self.lose();
            return;
        };
        let Some(place) = self.header.get_mut(usize::from(have)) else {
            self.lose();
            return;
        };
        set(place, byte);
        if usize::from(have) + 1 < HEADER {
            set(&mut self.have, have + 1);
            set(&mut self.at, at + 1);
            set(&mut self.last, Self::MORE);
            return;
        }
        set(&mut self.have, 0);
        let header = get(&self.header);
        self.pass(at + 1, end, payload_length(&header), longest(&header), Self::FIRST);
    }

    #[inline(always)]
    fn pass(&mut self, at: u32, end: u32, left: u32, longest: u32, first: u8) {
        let bytes = least(least(left, end.wrapping_sub(at)), longest);
        set(&mut self.left, left - bytes);
        set(&mut self.at, at + bytes);
        set(&mut self.bytes, bytes);
        let complete = if left == bytes { Self::COMPLETE } else { 0 };
        set(&mut self.last, Self::MORE | Self::PIECE | first | complete);
    }
}

/// A header's length, as segments count.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "headers are some bytes long")]
const fn length(header: usize) -> u32 {
    header as u32
}

#[inline(always)]
const fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// A frame of HTTP/2, or a piece of one, as the probes report it. The bytes that were kept follow.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct FrameRecord {
    /// [`RecordKind::Frame`](crate::RecordKind::Frame).
    pub kind: crate::RecordKind,
    /// The number of this record among those of this direction of this connection, from 1.
    pub number: u32,
    /// The socket's cookie.
    pub connection: u64,
    /// When the segment with this piece passed.
    pub now: Timestamp,
    /// The length of the frame's payload.
    pub length: u32,
    /// The stream.
    pub stream: u32,
    /// Where in the payload the piece begins.
    pub offset: u32,
    /// How many bytes were kept.
    pub kept: u16,
    /// The frame's type.
    pub frame: u8,
    /// The frame's flags.
    pub flags: u8,
    /// The number of the direction.
    pub direction: u8,
    /// 1 where the piece ends the frame.
    pub complete: u8,
    /// Where it belongs among the records before.
    pub place: crate::Place,
    /// Keeps the layout free of holes.
    pub reserved: [u8; 5],
}
