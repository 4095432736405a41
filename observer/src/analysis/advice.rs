//! What to do about the tail.

use rand_pcg::Pcg64;

use super::{
    bootstrap::Bootstrap,
    composition::{Explanation, Findings},
    context::Context,
    counterfactual::{Counterfactual, NEVER},
    kinds::Kinds,
    model::{Action, Alternative, Cause, Expected, FanOut, Latencies, Recommendation},
    phrases,
    policy::{BURST, Expectation, PARTS, Reaction, best, expectation, grid},
    quantiles::Survival,
    question::Question,
    repeatable::Repeatable,
    samples::Samples,
    slow::Slow,
    verdict::{Judgement, pauses},
};
use crate::quantity::Share;

/// Hedges ÷ requests at most where the utilisation of the instances is not known.
const CAUTIOUS: f64 = 0.05;

/// At most where it is known.
const MOST: f64 = 0.10;

/// Up to here instances may be used, hedges included.
const ROOM: f64 = 0.8;

/// The target must fall by this share to be worth it.
const WORTH: f64 = 0.08;

/// By this share it may rise, at worst: without a slow moment among the blocks drawn, nothing falls.
const LOSS: f64 = 0.02;

/// Where more of the slow requests than this are slow together, no copies are sent.
const TOGETHER: f64 = 0.3;

/// A canary hedges so many requests.
const CANARY: f64 = 0.01;

/// Budgets that are looked at besides.
const BUDGETS: [f64; 4] = [0.01, 0.02, 0.05, 0.10];

/// Everything that was found out about a service.
pub(super) struct Found<'a> {
    pub(super) samples: &'a Samples,
    pub(super) survival: &'a Survival,
    pub(super) slow: &'a Slow,
    pub(super) findings: &'a Findings,
    pub(super) judgement: &'a Judgement,
    pub(super) context: &'a Context<'a>,
    pub(super) question: &'a Question,
    pub(super) repeatable: &'a Repeatable,
}

/// Why copies are not advised though the cause would allow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objection {
    /// Somebody said so, or every request writes.
    Writes,
    /// Too many slow requests are slow together.
    Together,
    /// There is no other instance.
    Alone,
    /// The instances have no room for more.
    NoRoom,
    /// The target would hardly fall.
    NotWorthIt,
}

/// Advises.
pub(super) fn advise(found: &Found<'_>, random: &mut Pcg64) -> Recommendation {
    let mut advice = Recommendation {
        fan_out: fan_out(found),
        ..Recommendation::only(Action::DoNotHedge, found.question)
    };
    let mut objection = None;
    match found.judgement.cause {
        Cause::NoTail => advice.action = Action::None,
        Cause::Insufficient => advice.action = Action::Wait,
        Cause::Instance => advice.action = Action::Eject,
        Cause::Shared | Cause::Saturated | Cause::Caller | Cause::Network | Cause::Request => {}
        Cause::Independent | Cause::IndependentOrRequest | Cause::Mixed => {
            objection = hedge(found, random, &mut advice).err();
        }
    }
    phrases::complete(&mut advice, found, objection);
    advice
}

/// Advises second copies, or says what speaks against them.
fn hedge(found: &Found<'_>, random: &mut Pcg64, advice: &mut Recommendation) -> Result<(), Objection> {
    let shares = &found.judgement.shares;
    if found.samples.instances.len() < 2 {
        return Err(Objection::Alone);
    }
    if found.repeatable.none() {
        return Err(Objection::Writes);
    }
    if shares[Explanation::Shared as usize] + shares[Explanation::Saturated as usize] > TOGETHER {
        return Err(Objection::Together);
    }
    let budget = budget(found);
    if budget <= 0.0 {
        return Err(Objection::NoRoom);
    }
    let chosen = policy(found, budget, random, advice).ok_or(Objection::NoRoom)?;
    if chosen.gain < WORTH || chosen.gain_ci[0] < -LOSS {
        return Err(Objection::NotWorthIt);
    }
    let choice = chosen.choice;
    advice.delay_s = Some(choice.delay.as_seconds());
    advice.budget_burst = Some(BURST.get());
    advice.max_attempts = Some(2);
    // The only other instance is held up by whatever it is sent: how much, the counterfactual cannot tell.
    let is_delicate = found.samples.instances.len() == 2 && found.findings.load.one_at_a_time != Some(false);
    if found.judgement.cause == Cause::IndependentOrRequest || is_delicate {
        advice.action = Action::Canary;
        advice.budget_fraction = Some(CANARY.min(choice.trial.budget));
        // Spread over all that is late, so that the two groups can be compared.
        let spread = CANARY / choice.effect.rate.max(CANARY);
        advice.hedge_probability = Some(choice.effect.probability * spread);
    } else {
        advice.action = Action::Hedge;
        advice.budget_fraction = Some(choice.trial.budget);
        advice.hedge_probability = Some(choice.effect.probability);
    }
    Ok(())
}

/// Hedges ÷ requests at most: what somebody decided, as far as it leaves the instances room where it is known how busy
/// they are; without a decision a twentieth, or where it is known, what leaves room and a tenth.
fn budget(found: &Found<'_>) -> f64 {
    let decided = found.question.budget.map(Share::as_fraction);
    match found.question.utilisation {
        Some(utilisation) => {
            let room = (ROOM / utilisation.as_fraction().max(1e-9) - 1.0).max(0.0);
            decided.unwrap_or(MOST).min(room)
        }
        None => decided.unwrap_or(CAUTIOUS),
    }
}

fn policy(
    found: &Found<'_>,
    budget: f64,
    random: &mut Pcg64,
    advice: &mut Recommendation,
) -> Option<Expectation> {
    let Found { samples, survival, slow, findings, .. } = *found;
    let kinds = Kinds::of_classes(samples, |class| findings.classes[class].is_elevated);
    let counterfactual = Counterfactual::new(samples, survival, &kinds, found.repeatable);
    let races = grid(&counterfactual, survival);
    let target = found.question.component_target();
    let measured = findings.load.queueing();
    let reaction = Reaction {
        queueing: match found.question.utilisation {
            Some(utilisation) => Some(super::feedback::Queueing {
                utilisation: utilisation.as_fraction(),
                slots: measured.map_or(1.0, |measured| measured.slots),
            }),
            None => measured,
        },
        waiting: if findings.load.one_at_a_time == Some(false) {
            0.0
        } else {
            pauses(slow, samples, findings)
        },
    };
    for fraction in BUDGETS {
        if let Some(choice) = best(&races, fraction, &[1.0], reaction, target) {
            let alternative = Alternative {
                budget_fraction: choice.trial.budget,
                delay_s: choice.delay.as_seconds(),
                hedge_probability: choice.effect.probability,
                extra_load: choice.effect.rate * found.repeatable.share(),
                target_s: choice.effect.target.as_seconds(),
            };
            // What costs more and is no faster is no alternative.
            if advice.alternatives.last().is_none_or(|last| alternative.target_s < last.target_s) {
                advice.alternatives.push(alternative);
            }
        }
    }
    let choice = best(&races, budget, &PARTS, reaction, target)?;
    let bootstrap = Bootstrap::new(100, random);
    let expected = expectation(&counterfactual, choice, target, &bootstrap);
    advice.expected = Some(to_seconds(&expected, found.repeatable.share()));
    Some(expected)
}

fn to_seconds(found: &Expectation, share: f64) -> Expected {
    let latencies = |values: [u64; 4]| {
        let [p50, p95, p99, p999] = values.map(|value| (value < NEVER).then_some(value as f64 / 1e9));
        Latencies { p50, p95, p99, p999 }
    };
    Expected {
        before: latencies(found.before),
        after: latencies(found.after),
        after_ci: found.after_ci.map(|bound| bound / 1e9),
        hedge_rate: found.choice.effect.rate,
        extra_load: found.choice.effect.rate * share,
    }
}

/// What wide requests need: with up to w(1 + h) requests a wide one, a budget for each component lets a wide one have
/// w times as many copies, so that the budget is one for wide requests.
fn fan_out(found: &Found<'_>) -> Option<FanOut> {
    let width = found.question.fan_out.get();
    let quantile = found.question.component_target();
    let samples = found.samples.primaries.len();
    let share = found.slow.count as f64 / samples.max(1) as f64;
    (width > 1).then(|| {
        let enough = samples as f64 * (1.0 - quantile) >= 1.0;
        let component = found.survival.quantile(quantile);
        FanOut {
            width,
            component_quantile: quantile,
            component_s: (enough && !component.at_least).then(|| component.duration.as_seconds()),
            slow_share: 1.0 - libm::pow(1.0 - share, f64::from(width)),
            budget_per_request: found.question.budget.map_or(CAUTIOUS, Share::as_fraction),
        }
    })
}
