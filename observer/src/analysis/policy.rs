//! Which delay, with which probability, within which budget.

use std::num::NonZeroU32;

use observer_common::Nanoseconds;

use super::{
    bootstrap::{BLOCKS, Bootstrap, interval},
    counterfactual::{Closeness, Counterfactual, NEVER},
    feedback::Queueing,
    quantiles::Survival,
    races::{Effect, Races, Trial},
    rounding::{rounded, times},
};

/// How closely delays are looked at while the best is searched, around the best, and at the best itself.
const ROUGHLY: Closeness = Closeness { late: 700, donors: 3 };
pub(super) const NEARLY: Closeness = Closeness { late: 1_600, donors: 4 };
const CLOSELY: Closeness = Closeness { late: 3_000, donors: 6 };

/// Delays that leave from half of the requests late down to this share, in so many steps.
const LEAST_LATE: f64 = 0.003;
const STEPS: usize = 18;

/// Budgets that come this close to the best are as good, so that the smallest of them is taken.
const AS_GOOD: f64 = 0.02;

/// Within a budget, delays that come this close to the best are as good, so that the cheapest of them is taken.
const ALIKE: f64 = 0.005;

/// So many second copies may be saved up, for when an instance pauses.
const BURST: NonZeroU32 = NonZeroU32::new(100).expect("a hundred is not zero");

/// A policy, and what it would have done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) delay: Nanoseconds,
    pub(super) trial: Trial,
    pub(super) effect: Effect,
}

/// What is expected of a choice, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expectation {
    pub(super) choice: Choice,
    /// [`QUANTILES`] before and after, and their intervals.
    pub(super) before: [u64; 4],
    pub(super) after: [u64; 4],
    pub(super) after_ci: [[f64; 2]; 4],
    /// The same of the quantile that is to fall.
    pub(super) target: f64,
    pub(super) target_before: u64,
    pub(super) target_after: u64,
    pub(super) target_after_ci: [f64; 2],
    /// By which share it falls, and the interval of that.
    pub(super) gain: f64,
    pub(super) gain_ci: [f64; 2],
}

/// By so much of itself the counterfactual may be off.
const MODEL: f64 = 0.04;

/// So many times as many requests may be late as before.
const STRESSED: f64 = 1.25;

/// Quantiles that are looked at in any case.
const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// Where one delay of the grid is so many times as long as the one before, these multiples of that are tried as well.
const GAP: f64 = 1.3;
const BEYOND: [f64; 3] = [1.15, 1.3, 1.6];

/// Races for a grid of delays.
pub(super) fn grid(counterfactual: &Counterfactual<'_>, survival: &Survival) -> Vec<Races> {
    let ratio = libm::pow(LEAST_LATE / 0.5, 1.0 / (STEPS - 1) as f64);
    let at = |step: usize| survival.quantile(1.0 - 0.5 * libm::pow(ratio, step as f64)).duration;
    let mut delays: Vec<Nanoseconds> = Vec::new();
    for step in 0..STEPS {
        let delay = at(step);
        // Between the modes of a distribution there are few requests, but good delays.
        if let Some(before) = delays.last().copied()
            && delay.0 as f64 > GAP * before.0 as f64
        {
            // Where latencies are zero, as in a log of whole milliseconds, a part of the next one is the least delay.
            let base = before.max(Nanoseconds(delay.0 / 64));
            let between = BEYOND.map(|factor| times(base, factor));
            delays.extend(between.iter().filter(|between| **between < delay));
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
    fn stress(&self, work: f64) -> f64 {
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

/// The best of delays around one that was chosen: those that were tried lie apart.
pub(super) fn refined(
    counterfactual: &Counterfactual<'_>,
    races: &[Races],
    choice: Choice,
    budget: f64,
    reaction: Reaction,
    target: f64,
) -> Option<Choice> {
    let place = races.iter().position(|races| races.delay == choice.delay)?;
    let mut delays = vec![choice.delay];
    for neighbour in [place.checked_sub(1), Some(place + 1)] {
        let Some(neighbour) = neighbour.and_then(|place| races.get(place)) else { continue };
        let ratio = neighbour.delay.0 as f64 / choice.delay.0 as f64;
        delays.push(times(choice.delay, ratio.sqrt()));
    }
    delays.sort_unstable();
    delays.dedup();
    let closer: Vec<Races> = delays.iter().map(|delay| counterfactual.races(*delay, NEARLY)).collect();
    best(&closer, budget, &PARTS, reaction, target)
}

/// Looks closely at a choice; nothing where its second copies turn out to leave no room.
pub(super) fn expectation(
    counterfactual: &Counterfactual<'_>,
    choice: Choice,
    target: f64,
    reaction: Reaction,
    bootstrap: &Bootstrap,
) -> Option<Expectation> {
    let races = counterfactual.races(choice.delay, CLOSELY);
    let effect = races.within(choice.trial, target);
    let factor = reaction.factor(effect.work)?;
    let granted = races.granted(choice.trial);
    let without = races.mixture(&vec![0.0; granted.len()]);
    let with = races.mixture(&granted);
    let stressed = races.mixture(&races.granted(Trial { stress: STRESSED, ..choice.trial }));
    // The highest first, with the target among them.
    let mut quantiles = [QUANTILES[0], QUANTILES[1], QUANTILES[2], QUANTILES[3], target];
    quantiles.sort_by(|one, other| other.total_cmp(one));
    let place =
        |quantile: f64| quantiles.iter().position(|other| other.total_cmp(&quantile).is_eq()).unwrap_or(0);
    // What is not late is as it was.
    let plain = quantiles.map(|quantile| counterfactual.quantile(quantile));
    let late = plain.iter().take_while(|plain| **plain > choice.delay.0).count();
    let or_plain = |found: [Option<u64>; 5], factor: f64| -> [f64; 5] {
        let not_late = |place: usize| plain[place].min(choice.delay.0) as f64;
        std::array::from_fn(|place| found[place].map_or(not_late(place), |end| end as f64 * factor))
    };
    let before = or_plain(without.quantiles(&[1; BLOCKS], quantiles, late), 1.0);
    let after = or_plain(with.quantiles(&[1; BLOCKS], quantiles, late), factor);
    let stressed = or_plain(stressed.quantiles(&[1; BLOCKS], quantiles, late), factor);
    let draws: Vec<[[f64; 5]; 2]> = bootstrap
        .draws()
        .iter()
        .map(|times| {
            [
                or_plain(without.quantiles(times, quantiles, late), 1.0),
                or_plain(with.quantiles(times, quantiles, late), factor),
            ]
        })
        .collect();
    let ascending = |figure: &dyn Fn(&[[f64; 5]; 2]) -> f64| {
        let mut figures: Vec<f64> = draws.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        interval(&figures)
    };
    // What is measured after the change varies as much again: both deviations add up, √2 times one of them. Besides, the
    // counterfactual is a model, which is a little off by itself; and more may be late than before.
    let widened = |place: usize| {
        let [low, high] = ascending(&|draw| draw[1][place]);
        let (own, widen) = (after[place], std::f64::consts::SQRT_2);
        let above = (widen * (high - own)).max(stressed[place] - own).max(0.0);
        // Nothing that waits for a second copy is faster than that is sent.
        let least = own.min(choice.delay.0 as f64);
        [(own - widen * (own - low).max(0.0) - MODEL * own).max(least), own + above + MODEL * own]
    };
    let gain = |before: f64, after: f64| 1.0 - after / before.max(1.0);
    let decisive = place(target);
    let whole = |values: [f64; 5]| QUANTILES.map(|quantile| rounded(values[place(quantile)]));
    Some(Expectation {
        choice: Choice { effect, ..choice },
        before: whole(before),
        after: whole(after),
        after_ci: QUANTILES.map(|quantile| widened(place(quantile))),
        target,
        target_before: rounded(before[decisive]),
        target_after: rounded(after[decisive]),
        target_after_ci: widened(decisive),
        gain: gain(before[decisive], after[decisive]),
        gain_ci: ascending(&|draw| gain(draw[0][decisive], draw[1][decisive])),
    })
}
