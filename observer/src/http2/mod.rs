//! HTTP/2 and gRPC: requests and responses of a connection, told apart by stream (RFC 9113, RFC 7541, gRPC over
//! HTTP/2).
//!
//! In the kernel a walker follows the frames of both directions and tells of each. What needs memory without a small
//! bound is done here, on the host: header compression, and which response answers which request.
//!
//! ```text
//! Frame ──> Side ──> Blocks ──> hpack::Decoder ──> Fields ──┐
//!             └──────── DATA, `RST_STREAM`, GOAWAY ───────────┴──> Stream ──> Event
//! ```
//!
//! What is not certain is left out and counted. After a gap the times of later streams are certain all the same. Of
//! their fields those are known that do not refer to what was said before.

mod blocks;
mod ended;
mod fields;
mod frame;
mod gaps;
pub(crate) mod grpc;
mod hpack;
mod messages;
mod open_streams;
mod order;
mod side;
mod stream;
mod streams;
#[cfg(test)]
mod tests;

pub use ended::{Ended, Event, LeftOut};
pub use frame::{Frame, error, flag, kind};
pub use streams::Streams;
