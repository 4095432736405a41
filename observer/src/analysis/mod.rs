//! Why is the tail slow, would a second copy of the slow requests have been faster, and at what cost?
//!
//! One assessment is one function of the requests to one service and of what is asked. Nothing here knows a clock, a
//! file, a thread or a terminal.

pub mod model;
mod question;

pub use self::question::{Idempotent, Question};
