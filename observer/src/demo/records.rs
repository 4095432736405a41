//! What happened, as faults, replicas and the client each saw it. All read the host's monotonic clock.

use std::net::SocketAddr;

use observer_common::{Nanoseconds, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    hedging::{Attempt, Second},
    number::{NanosecondsNumber, TimestampNumber},
    wire::Class,
};

/// What a fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A replica's process was stopped.
    Stopped,
    /// A replica's control group had a small quota of processor time.
    Quota,
    /// A replica served longer than others.
    LongerService,
    /// The store's lock was held.
    StoreLocked,
    /// Requests arrived faster than they can be served.
    Burst,
    /// The client did not read.
    NotReading,
    /// A path delayed segments, and lost some.
    BadPath,
    /// A lost segment was waited for on one connection.
    SegmentLost,
}

/// A time for which a fault was on, as whoever caused it saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultSpan {
    /// What it did.
    pub fault: Fault,
    /// Which replica it struck; all, if none is named.
    pub instance: Option<SocketAddr>,
    /// Which connection it struck, by the client's address; all, if none is named.
    pub client: Option<SocketAddr>,
    /// When it began, on the host's monotonic clock.
    #[serde(rename = "begin_ns", with = "TimestampNumber")]
    pub begin: Timestamp,
    /// When it was over.
    #[serde(rename = "end_ns", with = "TimestampNumber")]
    pub end: Timestamp,
}

/// A copy of a request, as the replica saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// Which replica: the address that the client dials.
    pub instance: SocketAddr,
    /// Which request.
    pub request: u64,
    /// Which copy of it.
    pub attempt: Attempt,
    /// When the request was read.
    #[serde(rename = "arrived_ns", with = "TimestampNumber")]
    pub arrived: Timestamp,
    /// When the answer was ready, or the client was found to be gone.
    #[serde(rename = "ended_ns", with = "TimestampNumber")]
    pub ended: Timestamp,
    /// Whether it was answered.
    pub answered: bool,
}

/// How a copy of a request ended for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// With an answer.
    Answered {
        /// The protocol's status code.
        status: u16,
        /// Until the client had all of it, from the start.
        #[serde(rename = "complete_ns", with = "NanosecondsNumber")]
        complete: Nanoseconds,
    },
    /// The client gave it up: the other copy was faster, or its patience was over.
    Cancelled,
    /// The connection ended.
    Reset,
}

/// A copy of a request, as the client saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyRecord {
    /// Which request.
    pub request: u64,
    /// Which copy of it.
    pub attempt: Attempt,
    /// What kind of request.
    pub class: Class,
    /// Who was asked.
    pub instance: SocketAddr,
    /// The client's end of the connection.
    pub client: SocketAddr,
    /// The socket's cookie.
    pub connection: u64,
    /// Before the request was handed to the connection.
    #[serde(rename = "start_ns", with = "TimestampNumber")]
    pub start: Timestamp,
    /// Until the client had the head of the answer (HTTP/1) or all of it (gRPC), or gave up.
    #[serde(rename = "latency_ns", with = "NanosecondsNumber")]
    pub latency: Nanoseconds,
    /// How it ended.
    pub ending: Ending,
}

/// A request, as the client's caller saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Its number in the schedule.
    pub request: u64,
    /// What kind of request.
    pub class: Class,
    /// When the schedule wanted it to be sent. Latency counted from here leaves nothing out.
    #[serde(rename = "due_ns", with = "TimestampNumber")]
    pub due: Timestamp,
    /// When it was sent.
    #[serde(rename = "sent_ns", with = "TimestampNumber")]
    pub sent: Timestamp,
    /// When there was an answer, or no more hope for one.
    #[serde(rename = "ended_ns", with = "TimestampNumber")]
    pub ended: Timestamp,
    /// Whether there was a second copy.
    pub second: Second,
    /// Which copy was answered; none where the request failed.
    pub winner: Option<Attempt>,
}
