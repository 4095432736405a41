//! Two hosts in network namespaces, and what happens to the packets between them.

mod forwarder;
mod loopback;
mod namespace;
mod packet;
mod pair;
pub mod rules;
mod tun;

pub use forwarder::{Forwarder, Passed, Verdict};
pub use loopback::loopback_up;
pub use namespace::Namespace;
pub use packet::{Direction, Packet};
pub use pair::{Pair, narrow, plain, set_tcp_option};
