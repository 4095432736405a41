//! What would a policy do to a system? A simulation of requests, instances and copies, event by event.
//!
//! One run is one function of a [`System`], a [`Policy`], an [`Extent`] and a seed, and gives an [`Outcome`]. Nothing
//! here knows a clock, a file, a thread or a terminal. Time is a whole number of nanoseconds.

mod arrivals;
mod balancing;
mod budget;
mod closed_form;
mod engine;
mod estimate;
mod moment;
pub mod notation;
mod outcome;
mod policy;
pub mod presets;
mod random;
pub mod results;
mod rounding;
mod service;
mod system;

pub use self::{
    arrivals::{Arrivals, Bursts, BurstsError},
    balancing::Balancing,
    closed_form::WithoutQueues,
    engine::{Extent, simulate},
    estimate::Estimate,
    outcome::{Counts, Denied, Outcome, Population, SLICES},
    policy::{Budget, Cancellation, Hedge, MOST_COPIES, Policy, PolicyError, QueueDepth, Tactic, Target},
    service::{Empirical, EmpiricalError, Part, ServiceTime, ServiceTimeError, Shape},
    system::{Discipline, System},
};
pub use crate::quantity::{Rate, Share};

#[cfg(test)]
mod tests;
