//! What to do.

use super::{Line, units, verdict::names};
use crate::analysis::model::{Action, Assessment, Cause, Decisive, Expected, Objection, Recommendation};

/// What to do, or why not.
pub(in crate::report) fn advice(assessment: &Assessment) -> Line {
    ("advice", action(assessment))
}

/// What is expected of it.
pub(in crate::report) fn expected(recommendation: &Recommendation) -> Option<Line> {
    let expected = recommendation.expected.as_ref()?;
    Some(("expected", expectation(expected, recommendation.target)))
}

/// What must hold for it, what may make it wrong, and what else to do.
pub(in crate::report) fn lists(recommendation: &Recommendation) -> [(&'static str, &[String]); 3] {
    [
        ("only if", &recommendation.conditions),
        ("beware", &recommendation.warnings),
        (besides(recommendation), &recommendation.instead),
    ]
}

/// How the line about other things to do begins.
fn besides(recommendation: &Recommendation) -> &'static str {
    match recommendation.action {
        Action::Hedge | Action::Canary | Action::Eject => "besides",
        Action::DoNotHedge | Action::Wait | Action::None => "instead",
    }
}

fn action(assessment: &Assessment) -> String {
    let recommendation = &assessment.recommendation;
    match recommendation.action {
        Action::Hedge => format!("hedge: {}", policy(recommendation)),
        Action::Canary => {
            format!("try it with one request in a hundred first (canary): {}", policy(recommendation))
        }
        Action::Eject => {
            let elevated = &assessment.verdict.elevated;
            let which =
                if elevated.is_empty() { "what is slow as a whole".to_owned() } else { names(elevated) };
            format!("take out {which}, or send less there")
        }
        Action::DoNotHedge => format!("do not hedge: {}", reason(assessment)),
        Action::Wait => "wait: send no second copies yet".into(),
        Action::None => "nothing needs to be done".into(),
    }
}

fn policy(recommendation: &Recommendation) -> String {
    let mut text = match recommendation.delay_s {
        Some(delay) => format!("send a second copy of what has no answer after {}", units::duration(delay)),
        None => "send a second copy of what is late".into(),
    };
    if let Some(probability) = recommendation.hedge_probability.filter(|probability| *probability < 1.0) {
        text += &format!(" with probability {}", units::percent(probability));
    }
    if let Some(budget) = recommendation.budget_fraction {
        text += &format!(", for at most {} of the requests", units::short_percent(budget));
    }
    if let Some(burst) = recommendation.budget_burst {
        text += &format!(" (a bucket of {} tokens)", units::count(burst.into()));
    }
    if let Some(attempts) = recommendation.max_attempts.filter(|attempts| *attempts > 2) {
        text += &format!(", {attempts} copies in all");
    }
    text
}

fn reason(assessment: &Assessment) -> &'static str {
    match (assessment.recommendation.objection, assessment.verdict.cause) {
        (Some(Objection::OneInstance), _) => {
            "no other instance is asked for the same, so that a second copy could not go there"
        }
        (Some(Objection::Writes), _) => "these requests must not be sent twice",
        (Some(Objection::NoBudget), _) => "the budget for second copies is nothing",
        (Some(Objection::Together), _) => "too many slow requests are slow together with other instances",
        (Some(Objection::CopiesLose), _) => {
            "second copies that are in the traffic answer first far less often than they would by chance"
        }
        (Some(Objection::Seldom), _) => "slowness struck too seldom to know how",
        (Some(Objection::NoRoom), _) => "the instances have no room for second copies",
        (_, Cause::Shared) => "a second copy would wait for the same thing",
        (_, Cause::Saturated) => "second copies would make the queues longer",
        (_, Cause::Caller) => "the answers had come, and nobody read them",
        (_, Cause::Network) => "a second copy would take the same way",
        (_, Cause::Request) => "the same request is slow at every instance",
        _ => "second copies would not be worth what they cost",
    }
}

/// What is expected of the quantile that decides. `target` is that of the request, of which this may be a part.
fn expectation(expected: &Expected, target: f64) -> String {
    let Decisive { quantile, before_s, after_s, after_ci_s } = expected.decisive;
    let mut name = units::quantile(quantile);
    if (quantile - target).abs() > 1e-9 {
        name += " of each part";
    }
    let unknown = || "unknown".to_owned();
    let [before, after] = [before_s, after_s].map(|latency| latency.map_or_else(unknown, units::duration));
    let interval = after_ci_s.map_or_else(String::new, |interval| {
        let [low, high] = interval.map(units::duration);
        format!(" (95 % interval {low} to {high})")
    });
    let rate = units::percent(expected.hedge_rate);
    let wins = units::whole_percent(expected.wins);
    format!(
        "{name} {before} → {after}{interval}, with a second copy of {rate} of the requests; {wins} of these answer first"
    )
}
