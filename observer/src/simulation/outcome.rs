//! What came out of one run.

use observer_common::Nanoseconds;

use crate::ledger::{Distribution, Merged};

/// How many parts a run is cut into, to show how latency changes.
pub const SLICES: usize = 60;

/// What came out of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Requests of which no call had a second copy.
    pub unhedged: Population,
    /// The others.
    pub hedged: Population,
    /// How often what happened.
    pub counts: Counts,
    /// Latency by when requests arrived, in equal parts of the time in which they could.
    pub over_time: Vec<Distribution>,
    /// Whether it ended at its bound on requests, before its time was up.
    pub reached_bound: bool,
}

/// The latencies of some of the requests: from their arrival to the answer, or until they were given up.
#[derive(Clone, Debug, Default)]
pub struct Population {
    /// All of them, to three digits.
    pub latency: Distribution,
    /// Their sum, exactly.
    total_ns: u128,
    count: u64,
    shortest: Option<Nanoseconds>,
}

/// How often what happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that arrived.
    pub requests: u64,
    /// Calls that they made, each with a first copy.
    pub calls: u64,
    /// Copies beyond the first.
    pub extra_copies: u64,
    /// Copies that were begun to be served, by instance.
    pub executions: Vec<u64>,
    /// Copies that an instance refused.
    pub refused: u64,
    /// Copies that were dropped, or whose connection was reset, before they were begun.
    pub dropped_waiting: u64,
    /// Copies that were dropped while they were served.
    pub dropped_served: u64,
    /// Calls that a copy beyond the first answered.
    pub won_by_copies: u64,
    /// Hedges that were due and not sent.
    pub denied: Denied,
    /// Requests of which the deadline cut off calls.
    pub partial: u64,
    /// Requests of which a call was given up without an answer, or had none but failures.
    pub failed: u64,
}

/// Hedges that were due and not sent, by the first reason that held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Denied {
    /// Too many calls waited.
    pub overload: u64,
    /// The request had its share of copies.
    pub per_request: u64,
    /// No other instance was idle.
    pub no_idle: u64,
    /// The budget was spent.
    pub budget: u64,
}

impl Population {
    pub(super) fn record(&mut self, latency: Nanoseconds) {
        self.latency.record(latency);
        self.total_ns += u128::from(latency.0);
        self.count += 1;
        self.shortest = Some(self.shortest.map_or(latency, |shortest| shortest.min(latency)));
    }

    /// How many they are.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The shortest latency, exactly.
    pub const fn shortest(&self) -> Option<Nanoseconds> {
        self.shortest
    }
}

impl Outcome {
    /// The latencies of all requests.
    pub fn latency(&self) -> Merged {
        let mut merged = Merged::default();
        merged.add(&self.unhedged.latency);
        merged.add(&self.hedged.latency);
        merged
    }

    /// The mean latency of all requests in seconds, if there were any.
    pub fn mean_latency_seconds(&self) -> Option<f64> {
        let total = self.unhedged.total_ns + self.hedged.total_ns;
        (self.counts.requests > 0).then(|| total as f64 / self.counts.requests as f64 / 1e9)
    }

    /// The share of requests of which a call had a second copy.
    pub fn hedged_share(&self) -> f64 {
        share(self.hedged.count, self.counts.requests)
    }

    /// Copies that were begun to be served ÷ requests.
    pub fn executions_per_request(&self) -> f64 {
        share(self.counts.all_executions(), self.counts.requests)
    }
}

impl Counts {
    /// Copies that were begun to be served.
    pub fn all_executions(&self) -> u64 {
        self.executions.iter().sum()
    }
}

impl Denied {
    /// For whatever reason.
    pub const fn all(&self) -> u64 {
        self.overload + self.per_request + self.no_idle + self.budget
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
