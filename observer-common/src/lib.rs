//! The pairing state machine and the records that cross the kernel border.
//!
//! The same code is compiled twice: for the kernel by the probes (`observer-ebpf`), and for the host by
//! capture replay, property tests and the end-to-end oracles. It allocates nothing, calls nothing and
//! knows no clock: a [`Segment`] goes in, at most one [`Completed`] exchange and one [`Reason`] come out.
//!
//! ```text
//! packet ──> Head (protocol) ──> Segment ──> Connection::observe ──> Completed ──> ExchangeRecord
//!                                               ^ TCP sequence numbers decide what is new payload
//! ```
#![cfg_attr(not(test), no_std)]

mod address;
mod config;
mod connection;
mod counters;
mod pairing;
mod protocol;
mod record;
mod segment;
mod sequence;
mod time;

pub use address::{Address, Endpoint};
pub use config::{Config, LISTENING_WORDS, Roles};
pub use connection::{Connection, Phase, Role, SpinLock, bpf_spin_lock};
pub use counters::{COUNTERS, Counters, Reason};
pub use pairing::{Closed, Completed, Step};
pub use protocol::{HEAD_LENGTH, Head, Protocol};
pub use record::{COMM_LENGTH, ExchangeRecord, Outcome, UNKNOWN_DURATION};
pub use segment::{Direction, Segment, TcpFlags};
pub use time::{Nanoseconds, Timestamp};
