//! Every kind of segment that a naive pairing trips over, made to happen between two network namespaces. None may
//! invent a sample, and none may cost one.

mod arrival;
mod endings;
mod handshakes;
mod idle;
mod sizes;
mod support;
