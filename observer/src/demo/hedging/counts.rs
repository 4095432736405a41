//! What was called, hedged and unhedged requests apart.
//!
//! A hedged request's latency is the smaller of two, an unhedged one's is a single one: added up they would describe a
//! mixture whose shape is the hedge rate's.

use serde::{Deserialize, Serialize};

use super::{Attempt, CallError, Denial, Finished, Second};

/// What a [`Hedger`](super::Hedger) has called so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests that were begun.
    pub primaries: u64,
    /// Second copies that were sent.
    pub hedges: u64,
    /// Copies that were due and not sent since too many requests were in flight.
    pub denied_by_overload: u64,
    /// The same, since there was no other instance.
    pub denied_without_other: u64,
    /// The same, by the policy's chance.
    pub denied_by_chance: u64,
    /// The same, since the budget was used up.
    pub denied_by_budget: u64,
    /// Finished requests with two copies.
    pub hedged: Population,
    /// Finished requests with one.
    pub unhedged: Population,
}

/// Finished requests of one kind. One that its caller dropped is in neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Population {
    /// Answered by the primary.
    pub won_by_primary: u64,
    /// Answered by the copy.
    pub won_by_hedge: u64,
    /// Failed, every copy.
    pub failed: u64,
    /// Not answered before the deadline.
    pub expired: u64,
}

impl Counts {
    pub(super) fn finish<A, E>(&mut self, finished: &Finished<A, E>) {
        match finished.second {
            Second::NotNeeded | Second::Sent => {}
            Second::Denied(Denial::Overload) => self.denied_by_overload += 1,
            Second::Denied(Denial::NoOtherInstance) => self.denied_without_other += 1,
            Second::Denied(Denial::Chance) => self.denied_by_chance += 1,
            Second::Denied(Denial::Budget) => self.denied_by_budget += 1,
        }
        let population = match finished.second {
            Second::Sent => &mut self.hedged,
            Second::NotNeeded | Second::Denied(_) => &mut self.unhedged,
        };
        let count = match &finished.result {
            Ok((_, Attempt::Primary)) => &mut population.won_by_primary,
            Ok((_, Attempt::Hedge)) => &mut population.won_by_hedge,
            Err(CallError::Failed(_) | CallError::NoInstance) => &mut population.failed,
            Err(CallError::Expired) => &mut population.expired,
        };
        *count += 1;
    }
}
