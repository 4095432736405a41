//! What to do, in at most five lines.

use super::{
    style::Color,
    units,
    verdict::{line, names},
};
use crate::analysis::model::{Action, Assessment, Cause, Expected, Latencies, Recommendation};

/// The advice, what is expected of it, and the first of what it takes, what to beware of, and what to do besides.
pub(super) fn lines(assessment: &Assessment, color: Color) -> Vec<String> {
    let recommendation = &assessment.recommendation;
    let expected = recommendation.expected.as_ref();
    let mut lines = vec![color.heading(line("advice", &advice(assessment)))];
    lines.extend(
        expected.map(|expected| color.plain(line("expected", &expectation(expected, recommendation.target)))),
    );
    let first = |label, of: &[String]| first(of).map(|first| line(label, &first));
    lines.extend(first("only if", &recommendation.conditions).map(|line| color.plain(line)));
    lines.extend(first("beware", &recommendation.warnings).map(|line| color.warning(line)));
    lines.extend(first(besides(recommendation), &recommendation.instead).map(|line| color.plain(line)));
    lines
}

/// How the line about other things to do begins.
pub(super) fn besides(recommendation: &Recommendation) -> &'static str {
    match recommendation.action {
        Action::Hedge | Action::Canary | Action::Eject => "besides",
        Action::DoNotHedge | Action::Wait | Action::None => "instead",
    }
}

fn first(of: &[String]) -> Option<String> {
    let (first, rest) = of.split_first()?;
    Some(if rest.is_empty() { first.clone() } else { format!("{first} (and {} more below)", rest.len()) })
}

fn advice(assessment: &Assessment) -> String {
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
        Action::DoNotHedge => format!("do not hedge: {}", objection(assessment.verdict.cause)),
        Action::Wait => "wait: send no second copies yet, and observe longer".into(),
        Action::None => "nothing needs to be done".into(),
    }
}

fn policy(recommendation: &Recommendation) -> String {
    let mut text = match recommendation.delay_s {
        Some(delay) => format!("send a second copy of what has no answer after {}", units::duration(delay)),
        None => "send a second copy of what is late".into(),
    };
    if let Some(probability) = recommendation.hedge_probability.filter(|probability| *probability < 1.0) {
        text += &format!(" with probability {}", units::short_percent(probability));
    }
    if let Some(budget) = recommendation.budget_fraction {
        text += &format!(", for at most {} of the requests", units::short_percent(budget));
    }
    if let Some(burst) = recommendation.budget_burst {
        text += &format!(" (saving up to {})", units::count(burst.into()));
    }
    if let Some(attempts) = recommendation.max_attempts.filter(|attempts| *attempts > 2) {
        text += &format!(", {attempts} copies in all");
    }
    text
}

const fn objection(cause: Cause) -> &'static str {
    match cause {
        Cause::Shared => "a second copy would wait for the same thing",
        Cause::Saturated => "second copies would make the queues longer",
        Cause::Caller => "the answers had come, and nobody read them",
        Cause::Network => "a second copy would take the same way",
        Cause::Request => "the same request is slow at every instance",
        _ => "second copies would not be worth what they cost",
    }
}

fn expectation(expected: &Expected, target: f64) -> String {
    let name = units::quantile(target);
    let (before, after) = (of_target(&expected.before, target), of_target(&expected.after, target));
    let [low, high] = expected.after_ci.map(units::duration);
    let change = match (before, after) {
        (Some(before), Some(after)) => {
            let (before, after) = (units::duration(before), units::duration(after));
            format!("{name} {before} → {after} (95 % interval {low} to {high})")
        }
        _ => format!("{name} between {low} and {high} (95 % interval)"),
    };
    let rate = units::percent(expected.hedge_rate);
    let load = units::percent(expected.extra_load.max(0.0));
    format!("{change}, second copies of {rate} of the requests, {load} more load")
}

fn of_target(latencies: &Latencies, target: f64) -> Option<f64> {
    let Latencies { p50, p95, p99, p999 } = *latencies;
    [(0.5, p50), (0.95, p95), (0.99, p99), (0.999, p999)]
        .into_iter()
        .find(|(quantile, _)| (quantile - target).abs() < 1e-9)
        .and_then(|(_, latency)| latency)
}
