//! What sequence numbers say about payload: new, seen before, ahead of a gap.

use crate::{
    Connection, Direction, Phase, Segment,
    sequence::{distance, later},
};

/// What the sequence numbers say about a segment's payload.
pub(crate) struct Payload {
    /// How many bytes it shows to exist that were not known before: its own, and those of a gap in front of it.
    pub(crate) fresh: u32,
    /// Whether it made new bytes readable, in order.
    pub(crate) readable: bool,
    /// How far it starts ahead of the next byte expected; negative where it begins with bytes seen before.
    pub(crate) ahead: i32,
}

/// No window is larger (RFC 7323, section 2.2: 2³⁰ bytes).
const BEYOND_ANY_WINDOW: u32 = 1 << 30;

impl Payload {
    const OLD: Self = Self { fresh: 0, readable: false, ahead: -1 };
}

impl Connection {
    /// Payload that leaves. The stack sends in order, so only the end matters.
    #[inline(always)]
    pub(crate) fn sent_payload(&mut self, segment: &Segment) -> Payload {
        if self.flags & Self::SENT_KNOWN == 0 {
            self.flags |= Self::SENT_KNOWN;
            self.sent_next = segment.start();
        }
        let fresh = distance(self.sent_next, segment.end());
        if fresh <= 0 {
            self.retransmits = self.retransmits.wrapping_add(1);
            return Payload::OLD;
        }
        let ahead = distance(self.sent_next, segment.start());
        self.sent_next = segment.end();
        // A first segment that skips ahead carries no more than its own length.
        let fresh =
            if fresh.cast_unsigned() > segment.length { segment.length } else { fresh.cast_unsigned() };
        Payload { fresh, readable: true, ahead }
    }

    /// Payload that arrives: in order, ahead of a gap, or again.
    #[inline(always)]
    pub(crate) fn received_payload(&mut self, segment: &Segment) -> Payload {
        let (start, end) = (segment.start(), segment.end());
        if self.flags & Self::RECEIVED_KNOWN == 0 {
            self.flags |= Self::RECEIVED_KNOWN;
            self.received_next = start;
            self.received_end = start;
        }
        let ahead = distance(self.received_next, start);
        if ahead.unsigned_abs() >= BEYOND_ANY_WINDOW {
            return Payload::OLD; // corrupt, or of an earlier connection: the stack will refuse it
        }
        if ahead < 0 {
            self.received_again(segment);
            if distance(self.received_next, end) <= 0 {
                return Payload::OLD;
            }
        }
        let fresh = distance(self.received_end, end);
        let fresh = if fresh < 0 { 0 } else { fresh.cast_unsigned() };
        self.received_end = later(self.received_end, end);
        if ahead > 0 {
            self.flags |= Self::GAP;
            return Payload { fresh, readable: false, ahead };
        }
        self.received_next = end;
        if self.received_next == self.received_end {
            self.flags &= !Self::GAP;
        }
        Payload { fresh, readable: true, ahead }
    }

    /// A segment that begins with bytes that arrived before. Where the stack has not accepted them yet (it had no
    /// room: zero window, full buffer), they become readable only now, so their times are taken anew.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers wrap, and so may the difference")]
    fn received_again(&mut self, segment: &Segment) {
        let (start, end) = (segment.start(), segment.end());
        let keep_alive_probe =
            segment.length == 1 && end == self.received_next && self.at_hand.received() == Some(end);
        if !keep_alive_probe {
            self.retransmits = self.retransmits.wrapping_add(1);
        }
        let Some(received) = self.at_hand.received() else { return };
        if distance(start, received) < 0 || distance(received, end) <= 0 {
            return;
        }
        if self.is_request(Direction::Ingress) {
            if matches!(self.phase, Phase::Requesting) {
                self.sent = segment.now;
            }
        } else if matches!(self.phase, Phase::Responding) {
            // Was the first byte of this response among what the stack did not have?
            let begin = self.received_end.wrapping_sub(self.response_bytes as u32);
            if self.response_bytes <= u64::from(u32::MAX >> 1) && distance(received, begin) >= 0 {
                self.first = segment.now;
            }
            self.last = segment.now;
        }
    }
}
