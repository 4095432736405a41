//! The one event that leaves the kernel: an exchange.

use crate::{Endpoint, Nanoseconds, Protocol, Role, Timestamp};

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

/// One exchange, as the probes write it into the ring buffer.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct ExchangeRecord {
    /// The socket's cookie: what `SO_COOKIE` returns to its owner.
    pub connection: u64,
    /// First new payload byte of the request.
    pub start: Timestamp,
    /// From the start to the last request byte.
    pub sent: Nanoseconds,
    /// From the start to the first response byte that could be read; how long was waited where there is none.
    pub latency: Nanoseconds,
    /// From the start to the last response byte.
    pub complete: Nanoseconds,
    /// From the first response byte until the application looked at it; [`UNKNOWN_DURATION`] where not seen.
    pub read_lag: Nanoseconds,
    /// Payload of the request.
    pub request_bytes: u64,
    /// Payload of the response.
    pub response_bytes: u64,
    /// The exchange's number on its connection, from 1.
    pub number: u32,
    /// Segments that were seen again between the first request byte and the last response byte.
    pub retransmits: u32,
    /// Smoothed round-trip time in microseconds, times 8 as the kernel keeps it; 0 where unknown.
    pub srtt_eighths: u32,
    /// The process, 0 where unknown.
    pub pid: u32,
    /// The observed end.
    pub local: Endpoint,
    /// The other end, as its packets say: behind address translation in this namespace it is the real instance.
    pub remote: Endpoint,
    /// The other end, as the application dialled it.
    pub dialled: Endpoint,
    /// The process's name.
    pub comm: [u8; COMM_LENGTH],
    /// The protocol's own status, 0 where there is none.
    pub status: u16,
    /// Which side of the connection was observed.
    pub role: Role,
    /// The protocol.
    pub protocol: Protocol,
    /// How it ended.
    pub outcome: Outcome,
    /// Keeps the layout free of holes.
    pub reserved: [u8; 7],
}
