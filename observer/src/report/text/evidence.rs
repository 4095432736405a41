//! What verdict and advice rest on: for who wants to know more.

use super::{recommendation::besides, style::Color, table::Table, units, verdict::line};
use crate::{
    analysis::model::{Alternative, Assessment, Evidence, FanOut, Hedging, Recommendation},
    printable::printable,
};

/// Further conditions and warnings, the evidence, other budgets, wide requests, and copies that are there already.
pub(super) fn lines(assessment: &Assessment, color: Color) -> Vec<String> {
    let recommendation = &assessment.recommendation;
    let mut lines = further(recommendation, color);
    lines.extend(table(evidence(&assessment.verdict.evidence), color));
    lines.extend(table(alternatives(recommendation), color));
    let fan_out =
        recommendation.fan_out.map(|fan_out| line("fan-out", &wide(fan_out, recommendation.target)));
    let copies =
        assessment.hedging.filter(|hedging| hedging.observed).map(|hedging| line("copies", &copies(hedging)));
    let notes: Vec<_> = fan_out.into_iter().chain(copies).map(|line| color.plain(line)).collect();
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes);
    }
    lines
}

/// What did not fit into the lines above.
fn further(recommendation: &Recommendation, color: Color) -> Vec<String> {
    let mut lines = Vec::new();
    let lists = [
        ("only if", &recommendation.conditions),
        ("beware", &recommendation.warnings),
        (besides(recommendation), &recommendation.instead),
    ];
    for (label, list) in lists {
        let mut label = label;
        for text in list.iter().skip(1) {
            lines.push(color.plain(line(label, text)));
            label = "";
        }
    }
    if !lines.is_empty() {
        lines.insert(0, color.faint("  further"));
        lines.insert(0, String::new());
    }
    lines
}

/// The lines of a table under an empty one; none where it is empty.
fn table(table: Option<Table>, color: Color) -> Vec<String> {
    let Some(table) = table else { return Vec::new() };
    let mut rows = table.lines().map(|row| format!("  {row}"));
    let headings = rows.next().map(|headings| color.faint(headings));
    [String::new()].into_iter().chain(headings).chain(rows).collect()
}

fn evidence(evidence: &[Evidence]) -> Option<Table> {
    if evidence.is_empty() {
        return None;
    }
    let mut table = Table::ending_with_text();
    table.row(["evidence", "value", "95 % interval", "against", "meaning"].map(Into::into).into());
    for fact in evidence {
        let interval =
            fact.ci.map(|[low, high]| format!("{} to {}", units::significant(low), units::significant(high)));
        table.row(vec![
            printable(fact.name).into_owned(),
            units::significant(fact.value),
            interval.unwrap_or_else(|| units::NOTHING.into()),
            fact.threshold.map_or_else(|| units::NOTHING.into(), units::significant),
            printable(&fact.meaning).into_owned(),
        ]);
    }
    Some(table)
}

fn alternatives(recommendation: &Recommendation) -> Option<Table> {
    if recommendation.alternatives.is_empty() {
        return None;
    }
    let mut table = Table::default();
    let target = units::quantile(recommendation.target);
    table.row(vec!["other budgets".into(), "delay".into(), "probability".into(), "more load".into(), target]);
    for Alternative { budget_fraction, delay_s, hedge_probability, extra_load, target_s } in
        &recommendation.alternatives
    {
        table.row(vec![
            units::short_percent(*budget_fraction),
            units::duration(*delay_s),
            units::percent(*hedge_probability),
            units::percent(*extra_load),
            units::duration(*target_s),
        ]);
    }
    Some(table)
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
