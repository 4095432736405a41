//! Why is the tail slow, would a second copy of the slow requests have been faster, and at what cost?
//!
//! One assessment is one function of the requests to one service and of what is asked. Nothing here knows a clock, a
//! file, a thread or a terminal.
//!
//! ```text
//! rows ──> samples ──> slow ──> composition ──────> verdict ──┐
//!                        │    (coincidence,                   ▼
//!                        │     elevated, bursts)         objection ──> advice
//!                        │                                    ▲
//!                        └──> counterfactual ──> races ──> policy
//! ```

mod advice;
mod assess;
mod attributable;
mod bootstrap;
mod budget;
mod bursts;
mod caller;
mod classes;
mod clusters;
mod coincidence;
mod composition;
mod concurrency;
mod context;
mod costly;
mod counterfactual;
mod elevated;
mod episodes;
mod evidence;
mod feedback;
mod hedging;
mod hung;
pub mod hysteresis;
pub mod idempotency;
mod insufficient;
mod kinds;
pub mod model;
mod neighbours;
mod network;
mod objection;
mod phrases;
mod policy;
mod quantiles;
mod question;
mod races;
mod repeatable;
mod rounding;
mod samples;
mod served;
mod slow;
mod verdict;
mod whole;
mod windows;

#[cfg(test)]
mod tests;

pub use self::{
    assess::assess,
    context::Context,
    question::{Idempotent, Question},
    served::served,
};
