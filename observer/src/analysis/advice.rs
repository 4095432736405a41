//! What to do about the tail.

use rand_pcg::Pcg64;

use super::{
    bootstrap::Bootstrap,
    composition::{Explanation, Findings},
    context::Context,
    counterfactual::{Counterfactual, NEVER},
    kinds::Kinds,
    model::{Action, Alternative, Cause, Expected, FanOut, Latencies, Recommendation},
    policy::{BURST, Expectation, Reaction, best, expectation, grid},
    quantiles::Survival,
    question::{Idempotent, Question},
    samples::{Sample, Samples},
    slow::Slow,
    verdict::{Judgement, pauses},
};
use crate::exchange::Names;

/// Hedges ÷ requests at most where the utilisation of the instances is not known.
const CAUTIOUS: f64 = 0.05;

/// At most where it is known.
const MOST: f64 = 0.10;

/// Up to here instances may be used, hedges included.
const ROOM: f64 = 0.8;

/// The target must fall by this share to be worth it.
const WORTH: f64 = 0.08;

/// Where more of the slow requests than this are slow together, no copies are sent.
const TOGETHER: f64 = 0.3;

/// Budgets that are looked at besides.
const BUDGETS: [f64; 4] = [0.01, 0.02, 0.05, 0.10];

#[expect(clippy::too_many_arguments, reason = "everything that was found out")]
pub(super) fn advise(
    samples: &Samples,
    names: &Names,
    survival: &Survival,
    slow: &Slow,
    findings: &Findings,
    judgement: &Judgement,
    context: &Context<'_>,
    question: &Question,
    random: &mut Pcg64,
) -> Recommendation {
    let _ = (names, context);
    let mut advice = Recommendation {
        action: Action::DoNotHedge,
        delay_s: None,
        budget_fraction: None,
        budget_burst: None,
        hedge_probability: None,
        max_attempts: None,
        target: question.target,
        expected: None,
        alternatives: Vec::new(),
        fan_out: fan_out(survival, slow, samples, question),
        conditions: Vec::new(),
        warnings: Vec::new(),
        instead: Vec::new(),
    };
    let together =
        judgement.shares[Explanation::Shared as usize] + judgement.shares[Explanation::Saturated as usize];
    match judgement.cause {
        Cause::NoTail => advice.action = Action::None,
        Cause::Insufficient => advice.action = Action::Wait,
        Cause::Instance => advice.action = Action::Eject,
        Cause::Shared | Cause::Saturated | Cause::Caller | Cause::Network | Cause::Request => {}
        Cause::Independent | Cause::IndependentOrRequest | Cause::Mixed => {
            if question.idempotent == Idempotent::No || samples.instances.len() < 2 || together > TOGETHER {
                return advice;
            }
            let budget = budget(question, findings);
            if let Some(found) =
                policy(samples, survival, slow, findings, budget, question, random, &mut advice)
                && found.gain >= WORTH
                && found.gain_ci[0] > 0.0
            {
                let probability = found.choice.effect.probability;
                advice.action = if judgement.cause == Cause::IndependentOrRequest {
                    Action::Canary
                } else {
                    Action::Hedge
                };
                advice.delay_s = Some(found.choice.delay.as_seconds());
                advice.budget_fraction = Some(found.choice.trial.budget);
                advice.budget_burst = Some(BURST.get());
                advice.hedge_probability = Some(probability);
                advice.max_attempts = Some(2);
            }
        }
    }
    advice
}

/// Hedges ÷ requests at most: what somebody decided, or what leaves the instances room.
fn budget(question: &Question, findings: &Findings) -> f64 {
    let _ = findings;
    let wanted = question.budget.map(|budget| budget.as_fraction());
    match question.utilisation {
        Some(utilisation) => {
            let room = (ROOM / utilisation.as_fraction().max(1e-9) - 1.0).clamp(0.0, MOST);
            wanted.unwrap_or(MOST).min(room)
        }
        None => wanted.unwrap_or(CAUTIOUS),
    }
}

fn policy(
    samples: &Samples,
    survival: &Survival,
    slow: &Slow,
    findings: &Findings,
    budget: f64,
    question: &Question,
    random: &mut Pcg64,
    advice: &mut Recommendation,
) -> Option<Expectation> {
    if budget <= 0.0 {
        return None;
    }
    let may_repeat = |_: &Sample| true;
    let kinds = Kinds::of_classes(samples, |class| findings.classes[class].is_elevated);
    let counterfactual = Counterfactual::new(samples, survival, &kinds);
    let races = grid(&counterfactual, survival, &may_repeat);
    let target = question.component_target();
    let reaction = Reaction {
        queueing: findings.load.queueing(),
        waiting: if findings.load.one_at_a_time == Some(false) {
            0.0
        } else {
            pauses(slow, samples, findings)
        },
    };
    for fraction in BUDGETS {
        if let Some(choice) = best(&races, samples, fraction, reaction, target) {
            advice.alternatives.push(Alternative {
                budget_fraction: choice.trial.budget,
                delay_s: choice.delay.as_seconds(),
                hedge_probability: choice.effect.probability,
                extra_load: choice.effect.rate,
                target_s: choice.effect.target.as_seconds(),
            });
        }
    }
    let choice = best(&races, samples, budget, reaction, target)?;
    let bootstrap = Bootstrap::new(100, random);
    let found = expectation(&counterfactual, samples, survival, choice, target, &may_repeat, &bootstrap);
    advice.expected = Some(expected(&found));
    Some(found)
}

fn expected(found: &Expectation) -> Expected {
    let latencies = |values: [u64; 4]| {
        let [p50, p95, p99, p999] = values.map(|value| (value < NEVER).then_some(value as f64 / 1e9));
        Latencies { p50, p95, p99, p999 }
    };
    Expected {
        before: latencies(found.before),
        after: latencies(found.after),
        after_ci: found.after_ci.map(|bound| bound / 1e9),
        hedge_rate: found.choice.effect.rate,
        extra_load: found.choice.effect.rate,
    }
}

fn fan_out(survival: &Survival, slow: &Slow, samples: &Samples, question: &Question) -> Option<FanOut> {
    let width = question.fan_out.get();
    let quantile = question.component_target();
    let share = slow.count as f64 / samples.primaries.len().max(1) as f64;
    (width > 1).then(|| {
        let enough = samples.primaries.len() as f64 * (1.0 - quantile) >= 1.0;
        let component = survival.quantile(quantile);
        FanOut {
            width,
            component_quantile: quantile,
            component_s: (enough && !component.at_least).then(|| component.duration.as_seconds()),
            slow_share: 1.0 - libm::pow(1.0 - share, f64::from(width)),
            budget_per_request: question.budget.map_or(CAUTIOUS, |budget| budget.as_fraction()),
        }
    })
}
