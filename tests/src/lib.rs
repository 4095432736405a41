//! What the end-to-end tests share: a logging client and server, the observer as a child process, and the
//! comparison of what each of them saw.
//!
//! Nothing here is mocked: real sockets, real kernels, real programs.

pub mod capture;
pub mod clock;
pub mod conversation;
pub mod left_out;
pub mod log;
pub mod logging_client;
pub mod logging_server;
pub mod nesting;
pub mod network;
pub mod observation;
pub mod ports;
pub mod process;
pub mod python;
pub mod recording;
pub mod say;
pub mod skip;
pub mod span;
pub mod transport;
pub mod wire;
