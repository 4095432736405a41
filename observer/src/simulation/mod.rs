//! What would a policy do to a system? A simulation of requests, instances and copies, event by event.
//!
//! One run is one function of a [`System`], a [`Policy`], an [`Extent`] and a seed, and gives an [`Outcome`]. Nothing
//! here knows a clock, a file, a thread or a terminal. Time is a whole number of nanoseconds.

mod arrivals;
mod balancing;
mod budget;
mod engine;
mod moment;
mod outcome;
mod policy;
mod quantity;
mod random;
mod service;
mod system;

pub use self::{
    arrivals::{Arrivals, Bursts, BurstsError},
    balancing::Balancing,
    engine::{Extent, simulate},
    outcome::{Counts, Denied, Outcome, Population, SLICES},
    policy::{Budget, Cancellation, Hedge, MOST_COPIES, Policy, PolicyError, QueueDepth, Tactic, Target},
    quantity::{Rate, Share},
    service::{Empirical, EmpiricalError, Part, ServiceTime, ServiceTimeError, Shape},
    system::{Discipline, System},
};

#[cfg(test)]
mod tests;
