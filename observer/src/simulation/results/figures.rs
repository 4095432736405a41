//! One run in a few figures.

use crate::{
    ledger::{Distribution, Merged},
    simulation::{Denied, Outcome, Population},
};

/// Which quantiles are told.
pub(super) const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// One run in a few figures; durations in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    pub(super) requests: u64,
    pub(super) latency: Quantiles,
    pub(super) hedged: Part,
    pub(super) unhedged: Part,
    pub(super) executions_per_request: f64,
    pub(super) won_share: Option<f64>,
    pub(super) denied: Denied,
    pub(super) partial_share: f64,
    pub(super) failed_share: f64,
    pub(super) over_time: Vec<Quantiles>,
    pub(super) reached_bound: bool,
}

/// The quantiles of [`QUANTILES`], as far as there are enough requests to tell.
pub(super) type Quantiles = [Option<f64>; QUANTILES.len()];

/// Some of the requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) share: f64,
    pub(super) latency: Quantiles,
}

impl Figures {
    /// Those of one run.
    pub fn of(outcome: &Outcome) -> Self {
        let counts = &outcome.counts;
        let of_requests = |part: u64| part as f64 / counts.requests.max(1) as f64;
        let mut scratch = Merged::default();
        let mut quantiles = |distribution: &Distribution| {
            scratch.clear();
            scratch.add(distribution);
            quantiles(&scratch)
        };
        let mut part = |population: &Population| Part {
            share: of_requests(population.count()),
            latency: quantiles(&population.latency),
        };
        Self {
            requests: counts.requests,
            hedged: part(&outcome.hedged),
            unhedged: part(&outcome.unhedged),
            over_time: outcome.over_time.iter().map(quantiles).collect(),
            latency: self::quantiles(&outcome.latency()),
            executions_per_request: outcome.executions_per_request(),
            won_share: (counts.extra_copies > 0)
                .then(|| counts.won_by_copies as f64 / counts.extra_copies as f64),
            denied: counts.denied,
            partial_share: of_requests(counts.partial),
            failed_share: of_requests(counts.failed),
            reached_bound: outcome.reached_bound,
        }
    }
}

/// A quantile is told where at least one request is expected beyond it, as in reports.
fn quantiles(merged: &Merged) -> Quantiles {
    QUANTILES.map(|quantile| {
        let beyond = merged.count() as f64 * (1.0 - quantile);
        (beyond >= 1.0 - 1e-9).then(|| merged.quantile(quantile).as_seconds())
    })
}
