//! Policies that could have been advised.

use observer::{
    analysis::model::Recommendation,
    ledger::Merged,
    simulation::{Budget, Hedge, Policy, Tactic},
};
use observer_common::Nanoseconds;

use crate::units;

/// The most that any policy here may send: copies ÷ requests.
pub(crate) const BUDGET: f64 = 0.05;

/// How many unused copies are saved up where nobody says.
const BURST: u32 = 100;

/// The quantiles after which a copy is sent.
const DELAYS: [f64; 9] = [0.5, 0.75, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99];

/// A second copy after a delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Copying {
    /// After this.
    pub(crate) delay: Nanoseconds,
    /// Copies ÷ requests, at most.
    pub(crate) budget: f64,
    /// How many may be saved up.
    pub(crate) burst: u32,
    /// With this probability.
    pub(crate) probability: f64,
}

impl Copying {
    /// As a policy of which nobody stops what is not needed any more: the dearest way.
    pub(crate) fn policy(&self) -> Policy {
        let budget = Budget { share: units::share(self.budget), burst: units::whole(f64::from(self.burst)) };
        let hedge = Hedge {
            probability: units::share(self.probability),
            budget: Some(budget),
            ..Hedge::after(self.delay)
        };
        Policy::of(Tactic::Hedge(hedge))
    }

    /// What was advised, if it says when.
    pub(crate) fn advised(advice: &Recommendation, budget_unless_given: f64) -> Option<Self> {
        Some(Self {
            delay: units::seconds(advice.delay_s?),
            budget: advice.budget_fraction.unwrap_or(budget_unless_given),
            burst: advice.budget_burst.unwrap_or(BURST),
            probability: advice.hedge_probability.unwrap_or(1.0),
        })
    }

    /// What libraries do by themselves: a copy of what takes longer than nineteen in twenty.
    pub(crate) fn of_libraries(latency: &Merged) -> Self {
        Self { delay: latency.quantile(0.95), budget: BUDGET, burst: BURST, probability: 1.0 }
    }
}

/// All that is tried, given latencies without copies. Fewer where none can be the remedy.
pub(crate) fn grid(latency: &Merged, is_coarse: bool) -> Vec<Copying> {
    let after = |quantile: f64, budget: f64, probability: f64| Copying {
        delay: latency.quantile(quantile),
        budget,
        burst: BURST,
        probability,
    };
    if is_coarse {
        return [0.75, 0.95, 0.99].map(|quantile| after(quantile, BUDGET, 1.0)).into();
    }
    let all = DELAYS.map(|quantile| after(quantile, BUDGET, 1.0));
    // A coin spreads a budget that would else be spent on whatever comes first.
    let coins = [0.5, 0.75, 0.85].map(|quantile| after(quantile, BUDGET, BUDGET / (1.0 - quantile)));
    let cheaper =
        [(0.95, 0.02), (0.97, 0.02), (0.98, 0.01)].map(|(quantile, budget)| after(quantile, budget, 1.0));
    all.into_iter().chain(coins).chain(cheaper).collect()
}
