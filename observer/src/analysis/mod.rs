//! Why is the tail slow, would a second copy of the slow requests have been faster, and at what cost?
//!
//! One assessment is one function of the requests to one service and of what is asked. Nothing here knows a clock, a
//! file, a thread or a terminal.

mod assess;
mod context;
pub mod hysteresis;
pub mod idempotency;
mod insufficient;
pub mod model;
mod question;
mod served;

pub use self::{
    assess::assess,
    context::Context,
    question::{Idempotent, Question},
    served::served,
};
