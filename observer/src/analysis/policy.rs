//! Which delay, with which probability, within which budget.

use std::num::NonZeroU32;

use observer_common::Nanoseconds;

use super::{
    bootstrap::{BLOCKS, Bootstrap, interval},
    counterfactual::{Counterfactual, Effect, NEVER, Races, Trial},
    feedback::Queueing,
    quantiles::Survival,
    rounding::times,
};

/// So many late requests are looked at for each delay while the best is searched, and for the best itself.
const ROUGHLY: usize = 800;
const CLOSELY: usize = 6_000;

/// Delays that leave from half of the requests late down to this share, in so many steps.
const LEAST_LATE: f64 = 0.003;
const STEPS: usize = 22;

/// Budgets that come this close to the best are as good, so that the smallest of them is taken.
const AS_GOOD: f64 = 0.02;

/// Within a budget, delays that come this close to the best are as good, so that the cheapest of them is taken.
const ALIKE: f64 = 0.005;

/// So many second copies may be saved up, for when an instance pauses.
pub(super) const BURST: NonZeroU32 = NonZeroU32::new(100).expect("a hundred is not zero");

/// A policy, and what it would have done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) delay: Nanoseconds,
    pub(super) trial: Trial,
    pub(super) effect: Effect,
}

/// What is expected of a choice, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expectation {
    pub(super) choice: Choice,
    /// Quantiles 0.5, 0.95, 0.99 and 0.999 before and after.
    pub(super) before: [u64; 4],
    pub(super) after: [u64; 4],
    pub(super) after_ci: [f64; 2],
    /// By which share the target quantile falls, and the interval of that.
    pub(super) gain: f64,
    pub(super) gain_ci: [f64; 2],
}

/// By so much of itself the counterfactual may be off.
const MODEL: f64 = 0.04;

/// So many times as many requests may be late as before.
const STRESSED: f64 = 1.25;

pub(super) const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// Races for a grid of delays.
pub(super) fn grid(counterfactual: &Counterfactual<'_>, survival: &Survival) -> Vec<Races> {
    let ratio = libm::pow(LEAST_LATE / 0.5, 1.0 / (STEPS - 1) as f64);
    let at = |step: usize| survival.quantile(1.0 - 0.5 * libm::pow(ratio, step as f64)).duration;
    let mut delays: Vec<Nanoseconds> = Vec::new();
    for step in 0..STEPS {
        let delay = at(step);
        // Between the modes of a distribution there are few requests, but good delays.
        if let Some(before) = delays.last().copied()
            && delay.0 as f64 > 1.3 * before.0 as f64
        {
            for factor in [1.15, 1.3, 1.6] {
                let between = times(before, factor);
                if between.0 < delay.0 {
                    delays.push(between);
                }
            }
        }
        if delays.last().is_none_or(|last| delay > *last) {
            delays.push(delay);
        }
    }
    delays.retain(|delay| delay.0 > 0 && delay.0 < NEVER);
    delays.iter().map(|delay| counterfactual.races(*delay, ROUGHLY)).collect()
}

/// How second copies change what they are sent for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reaction {
    /// Instances as queues, where they are seen to be such.
    pub(super) queueing: Option<Queueing>,
    /// Which part of late requests is late because others are before them.
    pub(super) waiting: f64,
}

/// Late requests become more by so many times what waiting becomes longer.
const AMPLIFIED: f64 = 3.0;

impl Reaction {
    /// By what factor the latency of those that wait grows with so much more work; nothing where there is no room for it.
    fn factor(&self, work: f64) -> Option<f64> {
        let Some(queueing) = self.queueing else { return Some(1.0) };
        Some(1.0 + self.waiting * (queueing.settle(|_| work)?.waiting - 1.0))
    }

    /// By what factor more requests are late with so much more work.
    pub(super) fn stress(&self, work: f64) -> f64 {
        self.factor(work).map_or(AMPLIFIED, |factor| 1.0 + AMPLIFIED * (factor - 1.0))
    }
}

/// Parts of a budget that may do as well as all of it.
pub(super) const PARTS: [f64; 4] = [1.0, 0.6, 0.35, 0.2];

/// The best delay for these parts of a budget, or the cheapest of those that are as good. What it makes others wait counts.
pub(super) fn best(
    races: &[Races],
    budget: f64,
    parts: &[f64],
    reaction: Reaction,
    target: f64,
) -> Option<Choice> {
    let mut choices: Vec<(f64, Choice)> = Vec::new();
    for part in parts {
        let trial = Trial { budget: budget * part, burst: BURST, stress: reaction.stress(budget * part) };
        for races in races {
            let effect = races.within(trial, target);
            if let Some(factor) = reaction.factor(effect.work) {
                let cost = effect.target.0 as f64 * factor;
                choices.push((cost, Choice { delay: races.delay, trial, effect }));
            }
        }
    }
    let least = |choices: &[(f64, Choice)]| choices.iter().map(|choice| choice.0).min_by(f64::total_cmp);
    let good = (1.0 + AS_GOOD) * least(&choices)?;
    let budgets = choices.iter().filter(|choice| choice.0 <= good).map(|choice| choice.1.trial.budget);
    let budget = budgets.min_by(f64::total_cmp)?;
    choices.retain(|(_, choice)| choice.trial.budget <= budget);
    let alike = (1.0 + ALIKE) * least(&choices)?;
    let choices = choices.into_iter().filter(|choice| choice.0 <= alike).map(|(_, choice)| choice);
    choices.min_by(|one, other| one.effect.work.total_cmp(&other.effect.work))
}

/// Looks closely at a choice.
pub(super) fn expectation(
    counterfactual: &Counterfactual<'_>,
    choice: Choice,
    target: f64,
    bootstrap: &Bootstrap,
) -> Expectation {
    let races = counterfactual.races(choice.delay, CLOSELY);
    let effect = races.within(choice.trial, target);
    let granted = races.granted(choice.trial);
    let none = vec![0.0; granted.len()];
    let before = QUANTILES.map(|quantile| counterfactual.quantile(quantile));
    let after = QUANTILES.map(|quantile| {
        let plain = counterfactual.quantile(quantile);
        if plain <= choice.delay.0 {
            plain
        } else {
            races.quantile(&granted, &[1; BLOCKS], quantile).min(plain)
        }
    });
    let target_before = races.quantile(&none, &[1; BLOCKS], target);
    let gain = |before: u64, after: u64| 1.0 - after as f64 / before.max(1) as f64;
    let pairs: Vec<(u64, u64)> = bootstrap
        .draws()
        .iter()
        .map(|times| (races.quantile(&none, times, target), races.quantile(&granted, times, target)))
        .collect();
    let mut afters: Vec<f64> = pairs.iter().map(|(_, after)| *after as f64).collect();
    afters.sort_by(f64::total_cmp);
    let mut gains: Vec<f64> = pairs.iter().map(|(before, after)| gain(*before, *after)).collect();
    gains.sort_by(f64::total_cmp);
    let own = effect.target.0 as f64;
    // What is measured after the change varies as much again: both deviations add up, √2 times one of them. Besides, the
    // counterfactual is a model, which is a little off by itself; and more may be late than before.
    let [low, high] = interval(&afters);
    let widen = std::f64::consts::SQRT_2;
    let stressed = Trial { stress: STRESSED, ..choice.trial };
    let stressed = races.within(stressed, target).target.0 as f64;
    Expectation {
        choice: Choice { effect, ..choice },
        before,
        after,
        after_ci: [
            (own - widen * (own - low).max(0.0) - MODEL * own).max(0.0),
            own + (widen * (high - own)).max(stressed - own).max(0.0) + MODEL * own,
        ],
        gain: gain(target_before, effect.target.0),
        gain_ci: interval(&gains),
    }
}
