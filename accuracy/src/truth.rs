//! What second copies really do: policies applied to the same system.
//!
//! Each is applied in several runs of the same system with other requests and faults than the recorded ones: advice was
//! made from the recorded run, and is worth what it does afterwards. A policy is compared with none run by run, and the
//! median of the comparisons counts, so that luck does not.

use observer::{
    ledger::Merged,
    simulation::{Outcome, Policy},
};
use serde::{Deserialize, Serialize};

use crate::{
    case::{Case, Hedging},
    grid::{Copying, grid},
    recording::simulate,
};

/// Runs of each policy, none of which was recorded.
const RUNS: usize = 3;

/// How many of the grid's best in the first of these runs are tried in the others.
const FINALISTS: usize = 3;

/// The quantile that is to be improved.
pub(crate) const TARGET: f64 = 0.99;

/// What a policy did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// The p99 of each run, in seconds.
    pub p99_s: [f64; RUNS],
    /// It ÷ that without copies of the same run: the median of the runs.
    pub ratio: f64,
    /// Second copies ÷ requests in each run.
    pub extra: [f64; RUNS],
}

/// What the recorded run gives. Nothing is judged by it: it shows whether the simulation, with and without copies, is
/// still the one that a truth was measured with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    /// The p99 without copies, in nanoseconds.
    pub(crate) without_ns: u64,
    /// The p99 with the policy that libraries have, in nanoseconds.
    pub(crate) library_ns: u64,
    /// How many copies that sends.
    pub(crate) library_copies: u64,
}

/// What is true of a case, whatever is said about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// What the recorded run gives.
    pub(crate) recorded: Recorded,
    /// The p99 without copies in each run, in seconds.
    without_s: [f64; RUNS],
    /// What the policy that libraries have does.
    pub library: Applied,
    /// The best of the grid.
    pub best: Applied,
    /// After which delay it sends a copy, in seconds; nothing if sending none is best.
    pub best_delay_s: Option<f64>,
}

/// The seeds of the runs; the recorded run has the one before.
fn run(case: &Case, number: usize) -> u64 {
    case.run.wrapping_add(1 + number as u64)
}

fn p99(outcome: &Outcome) -> f64 {
    outcome.latency().quantile(TARGET).as_seconds()
}

fn extra(outcome: &Outcome) -> f64 {
    outcome.counts.extra_copies as f64 / outcome.counts.calls.max(1) as f64
}

fn median(mut values: [f64; RUNS]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[RUNS / 2]
}

impl Recorded {
    /// Measures the recorded run, and gives its latencies without copies: policies are made from them, as advice is.
    fn of(case: &Case) -> (Self, Merged) {
        let latency = simulate(&case.traffic, &Policy::NONE, case.run).latency();
        let library = simulate(&case.traffic, &Copying::of_libraries(&latency).policy(), case.run);
        let recorded = Self {
            without_ns: latency.quantile(TARGET).0,
            library_ns: library.latency().quantile(TARGET).0,
            library_copies: library.counts.extra_copies,
        };
        (recorded, latency)
    }
}

impl Truth {
    /// Measures what is true of a case.
    pub fn of(case: &Case) -> Self {
        let (recorded, latency) = Recorded::of(case);
        let mut truth = Self { recorded, ..Self::without_copies(case) };
        truth.library = truth.applied(case, &Copying::of_libraries(&latency));
        let is_coarse = case.family.hedging == Hedging::Forbidden;
        let mut tried: Vec<_> = grid(&latency, is_coarse)
            .into_iter()
            .map(|copying| (p99(&simulate(&case.traffic, &copying.policy(), run(case, 0))), copying))
            .collect();
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, copying) in tried.iter().take(if is_coarse { 1 } else { FINALISTS }) {
            let applied = truth.applied(case, copying);
            if applied.ratio < truth.best.ratio {
                truth.best = applied;
                truth.best_delay_s = Some(copying.delay.as_seconds());
            }
        }
        truth
    }

    /// Measures only what harm is judged by, and not what might have been gained.
    pub(crate) fn without_copies(case: &Case) -> Self {
        let without_s =
            std::array::from_fn(|number| p99(&simulate(&case.traffic, &Policy::NONE, run(case, number))));
        let none = Applied { p99_s: without_s, ratio: 1.0, extra: [0.0; RUNS] };
        Self { without_s, library: none, best: none, ..Self::default() }
    }

    /// Whether the simulation gives the recorded run as it did when this was measured, with and without copies.
    pub(crate) fn still_holds(&self, case: &Case) -> bool {
        Recorded::of(case).0 == self.recorded
    }

    /// The p99 without copies: the median of the runs.
    pub fn without_s(&self) -> f64 {
        median(self.without_s)
    }

    /// How much of the p99 the best policy takes off.
    pub fn gain(&self) -> f64 {
        1.0 - self.best.ratio
    }

    /// What a policy does to a case.
    pub(crate) fn applied(&self, case: &Case, copying: &Copying) -> Applied {
        let policy = copying.policy();
        let outcomes: [Outcome; RUNS] =
            std::array::from_fn(|number| simulate(&case.traffic, &policy, run(case, number)));
        let p99s = outcomes.each_ref().map(p99);
        let ratios = std::array::from_fn(|number| p99s[number] / self.without_s[number].max(1e-9));
        Applied { p99_s: p99s, ratio: median(ratios), extra: outcomes.each_ref().map(extra) }
    }
}
