//! What to do about the tail.

use std::num::NonZeroU32;

use rand_pcg::Pcg64;

use super::{
    bootstrap::Bootstrap,
    budget::{budget, per_request},
    coincidence::Coincidence,
    composition::{Findings, neighbourhood},
    context::Context,
    counterfactual::{Counterfactual, NEVER},
    feedback::Queueing,
    hedging::Copies,
    kinds::Kinds,
    model::{
        Action, Alternative, Cause, Decisive, Expected, FanOut, Intervals, Latencies, Objection,
        Recommendation,
    },
    objection::{objection, objection_to},
    phrases,
    policy::{Choice, Expectation, NEARLY, PARTS, Reaction, best, expectation, grid, refined},
    quantiles::Survival,
    question::Question,
    races::Trial,
    repeatable::Repeatable,
    samples::Samples,
    slow::Slow,
    verdict::{Judgement, pauses},
};

/// A canary hedges so many requests, and so few at once that it harms nobody.
const CANARY: f64 = 0.01;
const CANARY_BURST: NonZeroU32 = NonZeroU32::new(5).expect("five is not zero");

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
    pub(super) copies: Option<Copies>,
}

/// Advises.
pub(super) fn advise(found: &Found<'_>, random: &mut Pcg64) -> Recommendation {
    let mut advice = Recommendation::only(Action::DoNotHedge, found.question);
    match found.judgement.cause {
        Cause::NoTail => advice.action = Action::None,
        Cause::Insufficient => advice.action = Action::Wait,
        Cause::Instance => advice.action = Action::Eject,
        _ => advice.objection = hedge(found, random, &mut advice).err(),
    }
    advice.fan_out = fan_out(found, &advice);
    phrases::complete(&mut advice, found);
    advice
}

/// Advises second copies, or says what speaks against them.
fn hedge(found: &Found<'_>, random: &mut Pcg64, advice: &mut Recommendation) -> Result<(), Objection> {
    if let Some(objection) = objection(found) {
        return Err(objection);
    }
    let Advised { all, canary, alternatives, copies_would_win } =
        policy(found, random).ok_or(Objection::NoRoom)?;
    if let Some(objection) = objection_to(found, &all, copies_would_win) {
        // What copies in the traffic refute is not expected.
        advice.expected = (objection != Objection::CopiesLose).then(|| to_seconds(&all));
        return Err(objection);
    }
    let Choice { delay, trial, effect } = canary.as_ref().unwrap_or(&all).choice;
    advice.action = if canary.is_some() { Action::Canary } else { Action::Hedge };
    advice.delay_s = Some(delay.as_seconds());
    advice.budget_fraction = Some(trial.budget);
    advice.budget_burst = Some(trial.burst.get());
    // Less than one spreads the budget over all that is late, so that with and without can be compared.
    advice.hedge_probability = Some(effect.probability);
    advice.max_attempts = Some(2);
    if canary.is_some() {
        advice.conditions.push(phrases::after_canary(found, &all));
    }
    advice.expected = Some(to_seconds(canary.as_ref().unwrap_or(&all)));
    advice.alternatives = alternatives;
    Ok(())
}

/// What is advised if the whole budget is used, what is expected of a canary where one comes first, and what other budgets
/// would buy.
struct Advised {
    all: Expectation,
    canary: Option<Expectation>,
    alternatives: Vec<Alternative>,
    /// How often copies that are in the traffic would answer first by chance.
    copies_would_win: Option<f64>,
}

/// Whether to try with a few first.
fn is_canary(found: &Found<'_>, all: &Expectation, reaction: Reaction) -> bool {
    !found.judgement.is_chance_told
        || is_delicate(found)
        || may_be_shared(found)
        || would_harm(found, all, reaction)
}

/// Something strikes several instances at once more often than by chance, though not all of them.
pub(super) fn may_be_shared(found: &Found<'_>) -> bool {
    found.findings.coincidence.as_ref().is_some_and(Coincidence::is_suspicious)
}

/// Whether second copies would leave no room if, against what it looks like, slow requests were costly ones whatever their
/// name.
fn would_harm(found: &Found<'_>, all: &Expectation, reaction: Reaction) -> bool {
    let is_certain = found.judgement.are_pauses || found.samples.classes.are_heads();
    let has_room = |queueing: Queueing| queueing.settle(|_| all.choice.effect.work_if_costly).is_some();
    !is_certain && !reaction.queueing.is_none_or(has_room)
}

/// Where latency goes this closely with what is under way, requests wait for each other.
const WAITS: f64 = 0.3;

/// Of two instances the other one is held up by whatever it is sent, and while one pauses it is sent all copies at once:
/// how much that is, the counterfactual cannot tell.
pub(super) fn is_delicate(found: &Found<'_>) -> bool {
    let load = &found.findings.load;
    let waits = load.one_at_a_time != Some(false) || load.correlation >= WAITS;
    let holds_up = waits || found.judgement.are_pauses;
    found.samples.instances.len() == 2 && holds_up
}

/// The best policy within the budget, and what smaller or larger budgets would buy.
fn policy(found: &Found<'_>, random: &mut Pcg64) -> Option<Advised> {
    let Found { samples, survival, slow, findings, .. } = *found;
    let kinds = Kinds::of_classes(samples, |class| findings.classes[class].is_elevated);
    let near = neighbourhood(samples, slow);
    let counterfactual = Counterfactual::new(samples, survival, &kinds, found.repeatable, near);
    let races = grid(&counterfactual, survival);
    let target = found.question.component_target();
    let (budget, reaction) = (budget(found), reaction(found));
    let choice = best(&races, budget, &PARTS, reaction, target)?;
    let choice = refined(&counterfactual, &races, choice, budget, reaction, target)?;
    let bootstrap = Bootstrap::new(100, random);
    let expected = |choice| expectation(&counterfactual, choice, target, reaction, &bootstrap);
    let all = expected(choice)?;
    let canary = if is_canary(found, &all, reaction) {
        let trial = Trial { budget: CANARY.min(choice.trial.budget), burst: CANARY_BURST, ..choice.trial };
        // Where nothing can be expected of it, nothing is advised: least of all the whole budget.
        Some(expected(Choice { trial, ..choice })?)
    } else {
        None
    };
    let mut alternatives: Vec<Alternative> = Vec::new();
    let width = f64::from(found.question.fan_out.get());
    let budgets = BUDGETS.into_iter().map(|fraction| fraction / width);
    for fraction in budgets.filter(|fraction| *fraction <= budget) {
        let Some(choice) = best(&races, fraction, &[1.0], reaction, target) else { continue };
        let target = choice.effect.target.0;
        // What costs more and is no faster is no alternative.
        let faster = |last: &Alternative| choice.effect.target.as_seconds() < last.target_s;
        if target < NEVER && alternatives.last().is_none_or(faster) {
            alternatives.push(Alternative {
                budget_fraction: choice.trial.budget,
                delay_s: choice.delay.as_seconds(),
                hedge_probability: choice.effect.probability,
                extra_load: choice.effect.rate,
                target_s: choice.effect.target.as_seconds(),
            });
        }
    }
    let copies_would_win = found.copies.and_then(|copies| copies.delay).map(|delay| {
        let without_limit = Trial { budget: 1.0, ..choice.trial };
        counterfactual.races(delay, NEARLY).within(without_limit, target).wins
    });
    Some(Advised { all, canary, alternatives, copies_would_win })
}

fn reaction(found: &Found<'_>) -> Reaction {
    let load = &found.findings.load;
    let seen = load.queueing();
    let known = found.question.utilisation.map(|utilisation| Queueing {
        utilisation: utilisation.as_fraction(),
        slots: seen.map_or(1.0, |seen| seen.slots),
    });
    let behind_others = if load.one_at_a_time == Some(false) {
        0.0
    } else {
        pauses(found.slow, found.samples, found.findings)
    };
    Reaction { queueing: known.or(seen), waiting: load.correlation.max(behind_others) }
}

fn to_seconds(found: &Expectation) -> Expected {
    let seconds = |value: u64| (value < NEVER).then_some(value as f64 / 1e9);
    let interval = |[low, high]: [f64; 2]| (high < NEVER as f64).then_some([low / 1e9, high / 1e9]);
    let latencies = |[p50, p95, p99, p999]: [Option<f64>; 4]| Latencies { p50, p95, p99, p999 };
    let [p50, p95, p99, p999] = found.after_ci.map(interval);
    Expected {
        before: latencies(found.before.map(seconds)),
        after: latencies(found.after.map(seconds)),
        after_ci: Intervals { p50, p95, p99, p999 },
        decisive: Decisive {
            quantile: found.target,
            before_s: seconds(found.target_before),
            after_s: seconds(found.target_after),
            after_ci_s: interval(found.target_after_ci),
        },
        hedge_rate: found.choice.effect.rate,
        extra_load: found.choice.effect.rate,
        wins: found.choice.effect.wins,
    }
}

/// What wide requests need.
fn fan_out(found: &Found<'_>, advice: &Recommendation) -> Option<FanOut> {
    let width = found.question.fan_out.get();
    let quantile = found.question.component_target();
    let samples = found.samples.primaries.len();
    let share = found.slow.count as f64 / samples.max(1) as f64;
    let is_advised = matches!(advice.action, Action::Hedge | Action::Canary);
    (width > 1).then(|| {
        let enough = samples as f64 * (1.0 - quantile) >= 1.0;
        let component = found.survival.quantile(quantile);
        FanOut {
            width,
            component_quantile: quantile,
            component_s: (enough && !component.at_least).then(|| component.duration.as_seconds()),
            slow_share: 1.0 - libm::pow(1.0 - share, f64::from(width)),
            budget_per_request: is_advised.then(|| per_request(found)),
        }
    })
}
