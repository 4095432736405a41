//! What second copies really do: policies applied to the same system.
//!
//! Each is applied in several runs: that of the recording, and others of the same system with other requests and faults.
//! A policy is compared with none run by run, and the median of the comparisons counts, so that luck does not.

use observer::simulation::{Outcome, Policy};
use serde::{Deserialize, Serialize};

use crate::{
    case::{Case, Hedging},
    grid::{Copying, grid},
    recording::simulate,
};

/// Runs of each policy.
const RUNS: usize = 3;

/// How many of the grid's best in the first run are tried in the others.
const FINALISTS: usize = 3;

/// The quantile that is to be improved.
pub(crate) const TARGET: f64 = 0.99;

/// What a policy did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// The p99, in seconds: the median of the runs.
    pub p99_s: f64,
    /// It ÷ that without copies: the median of the runs.
    pub ratio: f64,
    /// Second copies ÷ requests: the median of the runs.
    pub extra: f64,
}

/// What is true of a case, whatever is said about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The p99 without copies in each run, in seconds.
    without_s: [f64; RUNS],
    /// What the policy that libraries have does.
    pub library: Applied,
    /// The best of the grid.
    pub best: Applied,
    /// After which delay it sends a copy, in seconds; nothing if sending none is best.
    pub best_delay_s: Option<f64>,
}

/// The seeds of the runs.
fn run(case: &Case, number: usize) -> u64 {
    case.run.wrapping_add(number as u64)
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

impl Truth {
    /// Measures what is true of a case.
    pub fn of(case: &Case) -> Self {
        let without: [Outcome; RUNS] =
            std::array::from_fn(|number| simulate(&case.traffic, &Policy::NONE, run(case, number)));
        let mut truth = Self { without_s: without.each_ref().map(p99), ..Self::default() };
        let latency = without[0].latency();
        truth.library = truth.applied(case, &Copying::of_libraries(&latency));
        truth.best = Applied { p99_s: truth.without_s(), ratio: 1.0, extra: 0.0 };
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
        let mut truth = Self { without_s, ..Self::default() };
        truth.best = Applied { p99_s: truth.without_s(), ratio: 1.0, extra: 0.0 };
        truth.library = truth.best;
        truth
    }

    /// The p99 without copies: the median of the runs.
    pub fn without_s(&self) -> f64 {
        median(self.without_s)
    }

    /// The p99 without copies of the first run, which is the recorded one.
    pub const fn without_first_s(&self) -> f64 {
        self.without_s[0]
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
        Applied { p99_s: median(p99s), ratio: median(ratios), extra: median(outcomes.each_ref().map(extra)) }
    }
}
