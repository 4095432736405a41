//! One TCP segment, reduced to what the pairing needs.

use crate::{
    Head, HeadKind, Outcome, Reason, Timestamp,
    volatile::{get, set},
};

/// Which way a segment travels, seen from the observed socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It leaves.
    Egress,
    /// It arrives.
    Ingress,
}

impl Direction {
    /// Both, by their number in records.
    pub const ALL: [Self; 2] = [Self::Egress, Self::Ingress];

    /// The number in records.
    #[inline(always)]
    pub const fn number(self) -> u8 {
        match self {
            Self::Egress => 0,
            Self::Ingress => 1,
        }
    }
}

/// The TCP flags byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// FIN.
    pub const FIN: u8 = 0x01;
    /// SYN.
    pub const SYN: u8 = 0x02;
    /// RST.
    pub const RST: u8 = 0x04;

    /// Whether the segment says that its sender is done.
    #[inline(always)]
    pub const fn fin(self) -> bool {
        self.0 & Self::FIN != 0
    }

    /// Whether the segment opens a connection.
    #[inline(always)]
    pub const fn syn(self) -> bool {
        self.0 & Self::SYN != 0
    }

    /// Whether the segment ends the connection at once.
    #[inline(always)]
    pub const fn rst(self) -> bool {
        self.0 & Self::RST != 0
    }
}

/// A sequence number that may be known. Not an `Option`: the verifier of Linux 6.1 and before refuses to read the
/// undefined bytes of a `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    is: u32,
    value: u32,
}

impl Known {
    /// Not known.
    pub const NOTHING: Self = Self { is: 0, value: 0 };

    /// Known to be this.
    #[inline(always)]
    pub const fn to_be(value: u32) -> Self {
        Self { is: 1, value }
    }

    #[inline(always)]
    const fn get(self) -> Option<u32> {
        if self.is == 0 { None } else { Some(self.value) }
    }
}

impl From<Option<u32>> for Known {
    fn from(value: Option<u32>) -> Self {
        value.map_or(Self::NOTHING, Self::to_be)
    }
}

/// One TCP segment, possibly one that segmentation offload has not split yet.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// When it passed the hook.
    pub now: Timestamp,
    /// Which way it travels.
    pub direction: Direction,
    /// Its sequence number.
    pub sequence: u32,
    /// Its payload, in bytes.
    pub length: u32,
    /// Its flags.
    pub flags: TcpFlags,
    /// How far its sender had accepted data when it left, where that is known.
    pub acknowledged: Known,
    /// What its payload begins with.
    pub head: Head,
    /// Whether its payload is nothing that asks or answers: a handshake, a message that has no answer.
    pub silent: bool,
    /// How far the receiving stack has accepted data in order, where that is known. Only looked at for arriving
    /// segments, and only while [`Connection::asks_for_received`](crate::Connection::asks_for_received) says so.
    pub received: Known,
}

impl Segment {
    /// The sequence number of the first payload byte.
    #[inline(always)]
    pub(crate) const fn start(&self) -> u32 {
        if self.flags.syn() { self.sequence.wrapping_add(1) } else { self.sequence }
    }

    /// The sequence number behind the last payload byte.
    #[inline(always)]
    pub(crate) const fn end(&self) -> u32 {
        self.start().wrapping_add(self.length)
    }
}

/// What is known about the segment at hand, kept where the verifier cannot follow it: see `volatile`.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct AtHand {
    acknowledged: u32,
    received: u32,
    status: u16,
    head: HeadKind,
    known: u8,
    flags: u8,
    reasons: [u8; 2],
    outcome: Outcome,
}

impl AtHand {
    const ACKNOWLEDGED: u8 = 1;
    const RECEIVED: u8 = 1 << 1;
    const SILENT: u8 = 1 << 2;

    /// A new step.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        set(&mut self.flags, 0);
        set(&mut self.reasons, [0; 2]);
    }

    /// Notes something about the step: a bit of [`Step`](crate::Step)'s.
    #[inline(always)]
    pub(crate) fn note(&mut self, flag: u8) {
        let flags = get(&self.flags);
        set(&mut self.flags, flags | flag);
    }

    /// The bits that were noted.
    #[inline(always)]
    pub(crate) fn flags(&self) -> u8 {
        get(&self.flags)
    }

    /// Notes that something is no certain pair: how one exchange ended, how the next began.
    #[inline(always)]
    pub(crate) fn doubt(&mut self, reason: Reason) {
        let [first, second] = get(&self.reasons);
        let reason = reason as u8;
        set(&mut self.reasons, if first == 0 { [reason, second] } else { [first, reason] });
    }

    /// The reasons that were noted, 0 for none.
    #[inline(always)]
    pub(crate) fn reasons(&self) -> [u8; 2] {
        get(&self.reasons)
    }

    /// The same outcome, unknown to the verifier.
    #[inline(always)]
    pub(crate) fn outcome(&mut self, outcome: Outcome) -> Outcome {
        set(&mut self.outcome, outcome);
        get(&self.outcome)
    }

    /// Takes up a segment.
    #[inline(always)]
    pub(crate) fn take(&mut self, segment: &Segment) {
        let mut known = if segment.silent { Self::SILENT } else { 0 };
        if let Some(acknowledged) = segment.acknowledged.get() {
            set(&mut self.acknowledged, acknowledged);
            known |= Self::ACKNOWLEDGED;
        }
        if let Some(received) = segment.received.get() {
            set(&mut self.received, received);
            known |= Self::RECEIVED;
        }
        set(&mut self.known, known);
        set(&mut self.status, segment.head.status());
        set(&mut self.head, segment.head.kind());
    }

    /// What the payload begins with.
    #[inline(always)]
    pub(crate) fn head(&self) -> HeadKind {
        get(&self.head)
    }

    /// Corrects what the payload begins with.
    #[inline(always)]
    pub(crate) fn set_head(&mut self, head: HeadKind) {
        set(&mut self.head, head);
    }

    /// The status code of a response's head, 0 where it is none.
    #[inline(always)]
    pub(crate) fn status(&self) -> u16 {
        if matches!(self.head(), HeadKind::HttpResponse) { get(&self.status) } else { 0 }
    }

    /// As [`Segment::silent`].
    #[inline(always)]
    pub(crate) fn is_silent(&self) -> bool {
        get(&self.known) & Self::SILENT != 0
    }

    /// As [`Segment::acknowledged`].
    #[inline(always)]
    pub(crate) fn acknowledged(&self) -> Option<u32> {
        if get(&self.known) & Self::ACKNOWLEDGED != 0 { Some(get(&self.acknowledged)) } else { None }
    }

    /// As [`Segment::received`].
    #[inline(always)]
    pub(crate) fn received(&self) -> Option<u32> {
        if get(&self.known) & Self::RECEIVED != 0 { Some(get(&self.received)) } else { None }
    }
}
