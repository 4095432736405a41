//! The published benchmark of a library that learns its delay.
//!
//! 50,000 calls, log-normal with a mean of 5 ms and a standard deviation of 2 ms, of which 5 % take ten times as long,
//! where nothing ever waits. The library reaches a p99 of 17.0 ms with copies of 8.9 % of the calls.

use std::fmt;

use anyhow::{Context as _, Result};
use observer::{
    analysis::Question,
    quantity::Share,
    simulation::{
        Arrivals, Balancing, Class, Discipline, Hedge, Policy, Share as Part, System, Tactic, WithoutQueues,
    },
};

use crate::{
    case::{Case, Check, Family, Half, Hedging, Traffic},
    grid::Copying,
    pace::Pace,
    recording::{Recording, simulate},
    score::judge,
    units,
};

/// What is advised for a budget, and what comes of it.
#[derive(Clone, Copy, Debug)]
pub struct Adaptive {
    /// Copies ÷ calls, at most.
    pub budget: f64,
    /// The p99 to reach with that, in seconds.
    pub goal_s: f64,
    /// A copy is sent after this, in seconds.
    pub delay_s: f64,
    /// With this probability.
    pub probability: f64,
    /// The p99 by formula, in seconds.
    pub exact_s: f64,
    /// Copies ÷ calls by formula.
    pub exact_extra: f64,
    /// The p99 as simulated with the budget, in seconds.
    pub applied_s: f64,
    /// Copies ÷ calls as simulated.
    pub applied_extra: f64,
}

/// What is to be reached: a budget, and the p99 with it in seconds.
const GOALS: [(f64, f64); 2] = [(0.07, 0.017_1), (0.05, 0.020_6)];

/// The calls of the benchmark, whose kind can be seen.
fn case() -> Result<Case> {
    // Sigma² = ln(1 + (2 ÷ 5)²); the mean is that of all calls, the slow ones included.
    let pace = Pace::Slow { share: 0.05, factor: 10.0, sigma: 0.385_253 };
    let system = System {
        arrivals: Arrivals::Poisson(units::rate(50_000.0 / 60.0)?),
        width: units::whole(1.0),
        balancing: Balancing::Random,
        instances: units::whole(10.0),
        slots: units::whole(1_000.0),
        discipline: Discipline::FirstInFirstOut,
        service: pace.of_mean(0.005 * 1.45)?,
    };
    let halves = ["GET /one", "GET /other"].map(|name| Class { name, share: Part::percent(50), factor: 1.0 });
    let family = Family {
        name: "adaptive-benchmark",
        half: Half::Tuning,
        causes: &[],
        actions: &[],
        hedging: Hedging::Remedy,
        check: Check::Anything,
        draw: |_| anyhow::bail!("this is no family"),
    };
    let traffic = Traffic::to(system).classes(halves.into());
    Ok(Case { family, seed: 1, traffic, per_host: 1, run: 1, rejected: 0 })
}

impl Adaptive {
    /// Runs the benchmark, for each budget.
    pub fn run() -> Result<Vec<Self>> {
        let case = case()?;
        let recording = Recording::of(&case);
        let with = |(budget, goal_s): (f64, f64)| {
            let question = Question { budget: Share::new(budget), ..Question::default() };
            let advice = judge(&recording, &question).0.recommendation;
            let copying = Copying::advised(&advice, budget).context("no copies are advised")?;
            let hedge =
                Hedge { probability: units::share(copying.probability), ..Hedge::after(copying.delay) };
            let policy = Policy::of(Tactic::Hedge(hedge));
            let formula = WithoutQueues::new(&case.traffic.system, &policy)
                .context("no formula for what is advised")?;
            let outcome = simulate(&case.traffic, &copying.policy(), case.run + 1);
            Ok(Self {
                budget,
                goal_s,
                delay_s: copying.delay.as_seconds(),
                probability: copying.probability,
                exact_s: formula.quantile(0.99).as_seconds(),
                exact_extra: formula.copies_per_request() - 1.0,
                applied_s: outcome.latency().quantile(0.99).as_seconds(),
                applied_extra: outcome.counts.extra_copies as f64 / outcome.counts.calls.max(1) as f64,
            })
        };
        GOALS.into_iter().map(with).collect()
    }
}

impl fmt::Display for Adaptive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "adaptive library's benchmark, budget {:.1} %: a copy after {:.1} ms with probability {:.2}; p99 by formula \
             {:.2} ms with {:.2} % more calls, simulated {:.2} ms with {:.2} %; goal {:.1} ms",
            self.budget * 100.0,
            self.delay_s * 1e3,
            self.probability,
            self.exact_s * 1e3,
            self.exact_extra * 100.0,
            self.applied_s * 1e3,
            self.applied_extra * 100.0,
            self.goal_s * 1e3,
        )
    }
}
