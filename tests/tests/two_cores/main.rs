//! Both directions of many connections run at once on two processors: nothing is lost between them.
//!
//! On loopback a segment is processed by the processor of its sender, for both sockets. Clients run on one processor
//! and servers on another, all the time: a lost update of a connection's state would lose something.

mod duplex;
mod requests;
mod support;
