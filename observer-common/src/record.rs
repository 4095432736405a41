//! What leaves the kernel: exchanges, and of some connections what the host needs to finish the pairing.

use crate::{Completed, Connection, Endpoint, Heads, Kept, Nanoseconds, Role, Timestamp};

/// How long a process name is, with its terminating zero.
pub const COMM_LENGTH: usize = 16;

/// Stands for a duration that was not measured.
pub const UNKNOWN_DURATION: Nanoseconds = Nanoseconds(u64::MAX);

/// How an exchange ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(u8)]
pub enum Outcome {
    /// A response came.
    #[default]
    Ok = 0,
    /// The response had not come yet when the exchange was looked at.
    Pending = 1,
    /// The observed side ended the connection before a response came.
    Cancelled = 2,
    /// The other side ended the connection before a response came.
    Reset = 3,
    /// TCP gave up.
    Timeout = 4,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Pending, Self::Cancelled, Self::Reset, Self::Timeout];

    /// The name in reports and recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Pending => "pending",
            Self::Cancelled => "cancelled",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
        }
    }
}

/// Which record this is: the first word of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(u32)]
pub enum RecordKind {
    /// [`ExchangeRecord`].
    #[default]
    Exchange = 1,
    /// [`FrameRecord`](crate::FrameRecord).
    Frame = 2,
    /// [`ConnectionRecord`], of a connection whose frames follow.
    Opened = 3,
    /// [`ConnectionRecord`], of a connection whose frames have ended.
    Closed = 4,
    /// [`PayloadRecord`] with the first message of a TLS client.
    Hello = 5,
    /// [`PayloadRecord`] with an answer of a name server.
    Names = 6,
}

/// Who talks to whom: written once for every connection, before its first exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct Parties {
    /// The socket's cookie: what `SO_COOKIE` returns to its owner.
    pub connection: u64,
    /// The control group of the socket: the inode of its directory in cgroup v2; 0 where unknown.
    pub cgroup: u64,
    /// The observed end.
    pub local: Endpoint,
    /// The other end, as its packets say: behind address translation in this namespace it is the real instance.
    pub remote: Endpoint,
    /// The other end, as the application dialled it.
    pub dialled: Endpoint,
    /// The owning process, 0 where unknown.
    pub pid: u32,
    /// The owning process's name.
    pub comm: [u8; COMM_LENGTH],
}

/// One exchange, as the probes write it into the ring buffer.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct ExchangeRecord {
    /// [`RecordKind::Exchange`].
    pub kind: RecordKind,
    /// Smoothed round-trip time in microseconds, times 8 as the kernel keeps it; 0 where unknown.
    pub srtt_eighths: u32,
    /// What the conversation told.
    pub completed: Completed,
    /// Whose exchange it is.
    pub parties: Parties,
    /// What request and response begin with.
    pub heads: Heads,
    /// How much of that is valid.
    pub kept: Kept,
    /// Keeps the layout free of holes.
    pub reserved: [u8; 6],
}

impl ExchangeRecord {
    /// The record of an exchange that has ended on `connection`, or that stands there so far.
    pub const fn new(connection: &Connection, completed: Completed, srtt_eighths: u32) -> Self {
        Self {
            kind: RecordKind::Exchange,
            srtt_eighths,
            completed,
            parties: connection.parties,
            heads: connection.heads,
            kept: connection.kept,
            reserved: [0; 6],
        }
    }
}

/// A connection of which frames are reported begins or ends.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct ConnectionRecord {
    /// [`RecordKind::Opened`] or [`RecordKind::Closed`].
    pub kind: RecordKind,
    /// Smoothed round-trip time, as in [`ExchangeRecord`].
    pub srtt_eighths: u32,
    /// When.
    pub now: Timestamp,
    /// Whose it is.
    pub parties: Parties,
    /// Which side of the connection is observed.
    pub role: Role,
    /// How requests end that still wait.
    pub outcome: Outcome,
    /// 1 where the connection is observed from its first byte on.
    pub whole: u8,
    /// Keeps the layout free of holes.
    pub reserved: [u8; 5],
}

/// How many bytes of a payload [`PayloadRecord`] keeps.
pub const PAYLOAD_LENGTH: usize = 2048;

/// The first bytes of one segment's or datagram's payload.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct PayloadRecord {
    /// [`RecordKind::Hello`] or [`RecordKind::Names`].
    pub kind: RecordKind,
    /// How many bytes of `data` are valid.
    pub kept: u16,
    /// 1 where the payload is longer than what was kept.
    pub truncated: u8,
    /// 1 where it was carried by TCP.
    pub stream: u8,
    /// The socket's cookie; 0 where it does not matter.
    pub connection: u64,
    /// The bytes.
    pub data: [u8; PAYLOAD_LENGTH],
}
