//! Why is the tail slow, would a second copy of the slow requests have been faster, and at what cost?
//!
//! One assessment is one function of the requests to one service and of what is asked. Nothing here knows a clock, a
//! file, a thread or a terminal.
//!
//! ```text
//! rows ──> samples ──> slow ──> composition ──> verdict ──> advice
//!                        │    (coincidence,        ▲          ▲
//!                        │     elevated, bursts)   │          │
//!                        └──> counterfactual ──> policy ──────┘
//! ```

mod advice;
mod assess;
mod bootstrap;
mod bursts;
mod clusters;
mod coincidence;
mod composition;
mod concurrency;
mod counterfactual;
mod elevated;
mod evidence;
mod feedback;
mod hung;
mod kinds;
pub mod model;
mod neighbours;
mod policy;
mod quantiles;
mod question;
mod samples;
mod slow;
mod verdict;
mod words;

pub use self::{
    assess::{Context, assess},
    question::{Idempotent, Question},
};
