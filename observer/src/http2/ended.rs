//! What comes out of the pairing.

use observer_common::{Nanoseconds, Outcome, Timestamp};

/// A request and its response on one stream.
///
/// Where `outcome` is not [`Outcome::Ok`], `latency` is how long was waited: a right-censored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended<'a> {
    /// The stream.
    pub stream: u32,
    /// Its number among the requests seen on the connection, from 1.
    pub number: u32,
    /// First byte of the request's HEADERS.
    pub start: Timestamp,
    /// Until the last byte of the request, or the last one so far where the response did not wait for it.
    pub sent: Nanoseconds,
    /// Until the first byte of the response's HEADERS; interim responses (1xx) are none.
    pub latency: Nanoseconds,
    /// Until the last byte of the response, where it came to its end.
    pub complete: Option<Nanoseconds>,
    /// How it ended.
    pub outcome: Outcome,
    /// What kind of request it was, where its header fields are known: `/package.Service/Method`, or the method and
    /// the template of the path.
    pub class: Option<&'a str>,
    /// `grpc-status` with its name, or `:status`.
    pub status: Option<&'a str>,
    /// Whether the answer is a failure: fast, but no answer to hedge for.
    pub failed: bool,
    /// Whether it is certainly a gRPC call.
    pub grpc: bool,
    /// Payload bytes of the request's frames, headers and padding included.
    pub request_bytes: u64,
    /// Payload bytes of the response's frames, headers and padding included.
    pub response_bytes: u64,
}

/// Why a stream did not become an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftOut {
    /// The server promised a response that nobody asked for.
    Push,
    /// More than one message in one direction, or request and response at the same time: its time to the first byte
    /// is no latency of a request.
    Streaming,
    /// The request passed before, or while, the connection was not observed.
    StartedBefore,
    /// Frames were lost, or nobody kept to the protocol, so that no pair is certain.
    Uncertain,
    /// More streams were open than are followed.
    TooMany,
    /// The response is older than its request by the clocks of two processors.
    NegativeDuration,
}

/// What became of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A certain pair, or a request that will not be answered.
    Ended(Ended<'a>),
    /// No certain pair.
    LeftOut {
        /// The stream.
        stream: u32,
        /// Why.
        reason: LeftOut,
    },
}
