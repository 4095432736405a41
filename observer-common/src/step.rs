//! What one segment brought about.

use crate::{AtHand, Nanoseconds, Outcome, Protocol, Reason, Role, Timestamp};

/// An exchange that is over, as far as the conversation itself tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct Completed {
    /// Its number on the connection, from 1.
    pub number: u32,
    /// Segments that were seen again between the first request byte and the last response byte.
    pub retransmits: u32,
    /// First request byte.
    pub start: Timestamp,
    /// From the start to the last request byte.
    pub sent: Nanoseconds,
    /// From the start to the first response byte, or how long was waited for it.
    pub latency: Nanoseconds,
    /// From the start to the last response byte.
    pub complete: Nanoseconds,
    /// From the first response byte until it was looked at, or [`crate::UNKNOWN_DURATION`].
    pub read_lag: Nanoseconds,
    /// Payload of the request.
    pub request_bytes: u64,
    /// Payload of the response.
    pub response_bytes: u64,
    /// The protocol.
    pub protocol: Protocol,
    /// How it ended.
    pub outcome: Outcome,
    /// Which side of the connection was observed.
    pub role: Role,
    /// Keeps the layout free of holes.
    pub reserved: [u8; 5],
}

/// What one segment brought about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The exchange that it ended; all zero where it ended none. Not an `Option`: the verifier refuses to copy
    /// the undefined bytes of a `None`.
    pub(crate) exchange: Completed,
    flags: u8,
    reasons: [u8; 2],
}

impl Step {
    pub(crate) const ENDED: u8 = 1;
    pub(crate) const ASKED: u8 = 1 << 1;
    pub(crate) const ANSWERED: u8 = 1 << 2;
    pub(crate) const HEAD: u8 = 1 << 3;
    pub(crate) const HELLO: u8 = 1 << 4;
    pub(crate) const OPENS: u8 = 1 << 5;
    pub(crate) const WHOLE: u8 = 1 << 6;

    /// Takes over what was noted meanwhile.
    #[inline(always)]
    pub(crate) fn conclude(&mut self, at_hand: &AtHand) {
        self.flags = at_hand.flags();
        self.reasons = at_hand.reasons();
    }

    /// The exchange that the segment ended.
    #[inline(always)]
    pub const fn completed(&self) -> Option<&Completed> {
        if self.flags & Self::ENDED != 0 { Some(&self.exchange) } else { None }
    }

    /// The indices of the reasons why what it showed is no certain pair, 0 where there is none: at most one for
    /// what ended, and one for what began.
    #[inline(always)]
    pub const fn reasons(&self) -> [u8; 2] {
        self.reasons
    }

    /// What it showed that is no certain pair.
    pub fn uncertain(&self) -> impl Iterator<Item = Reason> {
        self.reasons.into_iter().filter(|index| *index != 0).filter_map(|index| Reason::at(index.into()))
    }

    /// Whether a request begins with it.
    #[inline(always)]
    pub const fn asked(&self) -> bool {
        self.flags & Self::ASKED != 0
    }

    /// Whether a response begins with it.
    #[inline(always)]
    pub const fn answered(&self) -> bool {
        self.flags & Self::ANSWERED != 0
    }

    /// Whether its first byte is the first one of that message.
    #[inline(always)]
    pub const fn shows_head(&self) -> bool {
        self.flags & Self::HEAD != 0
    }

    /// Whether a client of TLS says hello with it, and records follow from here on.
    #[inline(always)]
    pub const fn says_hello(&self) -> bool {
        self.flags & Self::HELLO != 0
    }

    /// Whether frames of HTTP/2 follow from here on.
    #[inline(always)]
    pub const fn opens_frames(&self) -> bool {
        self.flags & Self::OPENS != 0
    }

    /// Where they do: whether nothing of the connection came before.
    #[inline(always)]
    pub const fn is_whole(&self) -> bool {
        self.flags & Self::WHOLE != 0
    }
}
