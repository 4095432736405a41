//! What the first bytes of a request and of its response say: protocol, class of the request, status, failure;
//! or that this turn of the connection is no exchange to be measured.
//!
//! The kernel pairs turns by direction and keeps the first bytes of both halves; here they are read. Every
//! reader is conservative: what was not seen is not claimed. A class that ends in `…` stands for a request of
//! which only the beginning was kept, so that more may follow than the class says. No class means that the
//! protocol is known and the kind of request is not. Of payload nothing is kept but names of commands and
//! tables, and paths whose variable parts are replaced.
//!
//! ```text
//! Turn ──> recognise (once a connection) ──> reader of the protocol ──> vocabulary (bounded) ──> Finding
//! ```

mod batch;
mod bucket;
mod classes;
mod connections;
mod find;
mod hash;
mod http1;
mod kind;
mod memcached;
mod messages;
mod mysql;
mod numerals;
mod path;
mod postgresql;
mod recognise;
mod redis;
mod sql;
mod statements;
mod text;
mod verdict;
mod vocabulary;

#[cfg(test)]
mod tests;

pub use bucket::bucket;
pub use classes::Classes;
pub use messages::Messages;
use observer_common::Protocol;
pub use path::path_template;

/// What was kept of one turn: request bytes one way, then response bytes the other way.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The connection, by a number that no other connection has at the same time.
    pub connection: u64,
    /// The responding side's port: a hint only where the bytes are ambiguous.
    pub port: u16,
    /// The protocol as the kernel recognised it.
    pub protocol: Protocol,
    /// The first bytes of the request.
    pub request: &'a [u8],
    /// How many bytes the request has.
    pub request_bytes: u64,
    /// The first bytes of the response; empty where none came.
    pub response: &'a [u8],
    /// How many bytes the response has.
    pub response_bytes: u64,
    /// Whether a response came.
    pub answered: bool,
}

/// What a turn turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding<'a> {
    /// A request and its response.
    Exchange(Description<'a>),
    /// Nothing whose latency means anything.
    LeftOut(LeftOut),
}

/// What the bytes of an exchange say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Description<'a> {
    /// The protocol's name in reports; nothing where it is not known.
    pub protocol: Option<&'static str>,
    /// What kind of request it was.
    pub class: Option<&'a str>,
    /// The protocol's own status.
    pub status: Option<&'a str>,
    /// Whether the answer is a failure: fast, but no answer.
    pub failed: bool,
}

/// Why a turn is no exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeftOut {
    /// The connection is being set up: encryption, start-up, authentication.
    Handshake,
    /// What follows is sent unasked: subscriptions and monitoring.
    Push,
    /// A request that has no response: farewells, and commands that ask for silence.
    Unanswered,
    /// Data flows without requests: bulk copies, replication.
    Streaming,
    /// The bytes are not the beginning of a message of this connection's protocol.
    Overlapping,
}
