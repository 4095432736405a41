//! One TCP segment, reduced to what the pairing needs.

use crate::{Head, Timestamp};

/// Which way a segment travels, seen from the observed socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It leaves.
    Egress,
    /// It arrives.
    Ingress,
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
    pub acknowledged: Option<u32>,
    /// What its payload begins with.
    pub head: Head,
    /// How far the receiving stack has accepted data in order, where that is known. Only looked at for arriving
    /// segments, and only while [`Connection::asks_for_received`](crate::Connection::asks_for_received) says so.
    pub received: Option<u32>,
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
