//! The host's half of the pairing: what the kernel leaves to memory without a small bound, and to names.
//!
//! Every source that sees segments, the probes and a packet capture, hands over the same [`Record`]s; here they
//! become exchanges: turns get their class and status (`protocol`), streams of HTTP/2 find their answers (`http2`),
//! and addresses become services, instances and clients (`identity`).
//!
//! ```text
//! Record ──> Finisher ──> protocol | http2 ──> Who (identity) ──> Exchange
//! ```

mod cgroup;
mod finisher;
mod hello;
mod multiplexed;
mod record;
mod who;

pub use finisher::Finisher;
pub use record::Record;
pub use who::Who;
