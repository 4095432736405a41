//! What verdict and advice rest on.

use super::{Line, units};
use crate::analysis::model::{Alternative, Assessment, Evidence, FanOut, Hedging, Recommendation};

/// The rows of a table of facts, the headings first; none where there are no facts. The last column is text.
pub(in crate::report) fn facts(evidence: &[Evidence]) -> Vec<Vec<String>> {
    let headings = ["evidence", "value", "95 % interval", "against", "meaning"];
    rows(&headings.map(Into::into), evidence, |fact| {
        let interval =
            fact.ci.map(|[low, high]| format!("{} to {}", units::significant(low), units::significant(high)));
        [
            fact.name.into(),
            units::significant(fact.value),
            interval.unwrap_or_else(|| units::NOTHING.into()),
            fact.threshold.map_or_else(|| units::NOTHING.into(), units::significant),
            fact.meaning.clone(),
        ]
    })
}

/// The rows of a table of other budgets, the headings first; none where there are none.
pub(in crate::report) fn alternatives(recommendation: &Recommendation) -> Vec<Vec<String>> {
    let target = units::quantile(recommendation.target);
    let [budgets, delay, probability, load] =
        ["other budgets", "delay", "probability", "more load"].map(Into::into);
    let headings = [budgets, delay, probability, load, target];
    rows(&headings, &recommendation.alternatives, |alternative| {
        let Alternative { budget_fraction, delay_s, hedge_probability, extra_load, target_s } = *alternative;
        [
            units::short_percent(budget_fraction),
            units::duration(delay_s),
            units::percent(hedge_probability),
            units::percent(extra_load),
            units::duration(target_s),
        ]
    })
}

fn rows<Of, const COLUMNS: usize>(
    headings: &[String; COLUMNS],
    all: &[Of],
    row: impl Fn(&Of) -> [String; COLUMNS],
) -> Vec<Vec<String>> {
    if all.is_empty() {
        return Vec::new();
    }
    [headings.to_vec()].into_iter().chain(all.iter().map(|one| row(one).into())).collect()
}

/// Requests that wait for several of these, and second copies that are there already.
pub(in crate::report) fn notes(assessment: &Assessment) -> Vec<Line> {
    let Assessment { recommendation, hedging, .. } = assessment;
    let fan_out = recommendation.fan_out.map(|fan_out| ("fan-out", wide(fan_out, recommendation.target)));
    let copies = hedging.filter(|hedging| hedging.observed).map(|hedging| ("copies", copies(hedging)));
    fan_out.into_iter().chain(copies).collect()
}

fn wide(fan_out: FanOut, target: f64) -> String {
    let FanOut { width, component_quantile, component_s, slow_share, budget_per_request } = fan_out;
    let component = units::quantile(component_quantile);
    let duration = component_s.map(|duration| format!(", {}", units::duration(duration))).unwrap_or_default();
    let budget = budget_per_request.map_or_else(String::new, |budget| {
        format!("; a second copy of one of its parts in at most {} of them", units::short_percent(budget))
    });
    format!(
        "of a request that waits for {}, {} is {component} of one{duration}; {} of such requests are slow{budget}",
        units::count(width.into()),
        units::quantile(target),
        units::whole_percent(slow_share),
    )
}

fn copies(hedging: Hedging) -> String {
    format!(
        "{} of the requests have a second copy already{}",
        units::percent(hedging.rate),
        hedging.wins.map_or_else(String::new, |wins| {
            format!("; it answered first for {} of these", units::whole_percent(wins))
        })
    )
}
