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
mod aside;
mod beginning;
mod config;
mod connection;
mod counters;
mod doubts;
mod ending;
mod frames;
mod heads;
mod hole;
mod http2;
mod pairing;
mod payload;
mod protocol;
mod record;
mod route;
mod segment;
mod sequence;
mod step;
mod time;
mod tls;
mod volatile;

pub use address::{Address, Endpoint};
pub use config::{Config, LISTENING_WORDS, Roles};
pub use connection::{Connection, Peer, Phase, Role, SpinLock, bpf_spin_lock};
pub use counters::{COUNTERS, Counters, Reason};
pub use ending::Closed;
pub use frames::{FrameRecord, LONGEST_HEADER, Passed, PayloadBytes, Walker};
pub use heads::{Heads, Kept, REQUEST_HEAD, RESPONSE_HEAD};
pub use hole::Place;
pub use http2::{BLOCK_PIECE, FRAME_HEADER, SHORT_PIECE};
pub use protocol::{
    FEW, HEAD_LENGTH, Head, HeadKind, MYSQL_COMMAND, Protocol, mysql_is_encrypted, mysql_is_unanswered,
};
pub use record::{
    COMM_LENGTH, ConnectionRecord, ExchangeRecord, Outcome, PAYLOAD_LENGTH, Parties, PayloadRecord,
    RecordKind, UNKNOWN_DURATION,
};
pub use route::Route;
pub use segment::{AtHand, Direction, Known, Segment, TcpFlags};
pub use step::{Completed, Step};
pub use time::{Nanoseconds, Timestamp};
pub use tls::{RECORD_HEADER, TlsStage};
