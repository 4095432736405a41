//! What would a policy do to a system? A simulation of requests, instances and copies, event by event.
//!
//! One run is one function of a [`System`], its [`Conditions`], a [`Policy`], an [`Extent`] and a seed, and gives an
//! [`Outcome`]; whoever wants to is shown what a probe beside the client would see. Nothing here knows a clock, a file, a
//! thread or a terminal. Time is a whole number of nanoseconds.

mod arrivals;
mod balancing;
mod budget;
mod closed_form;
mod conditions;
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
mod seen;
mod service;
mod system;

pub use self::{
    arrivals::{Arrivals, Bursts, BurstsError},
    balancing::Balancing,
    closed_form::WithoutQueues,
    conditions::{Class, Conditions, ConditionsError, Effect, Fault, HiddenCost, OtherLoad, Scope, When},
    engine::{Extent, simulate, simulate_seen},
    estimate::Estimate,
    outcome::{Counts, Denied, Outcome, Population, SLICES},
    policy::{Budget, Cancellation, Hedge, MOST_COPIES, Policy, PolicyError, QueueDepth, Tactic, Target},
    seen::{CopyIds, Seen, SeenNames},
    service::{Empirical, EmpiricalError, Part, ServiceTime, ServiceTimeError, Shape},
    system::{Discipline, System},
};
pub use crate::quantity::{Rate, Share};

#[cfg(test)]
mod tests;
