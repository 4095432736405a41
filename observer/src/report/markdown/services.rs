//! What to do about each service, and one table of its instances.

use super::{
    escape::{block, inline},
    evidence, labelled,
    table::table,
};
use crate::{
    analysis::model::Assessment,
    provenance::SourceKind,
    report::{
        model::{Instance, Measured, OtherServices, Report, Service},
        words::{
            recommendation::{advice, expected, lists},
            services::{NOTHING_SEEN, OTHERS, at_least, notes, quantiles, title},
            units,
            verdict::{particulars, why},
        },
    },
};

pub(super) fn blocks(report: &Report) -> Vec<String> {
    let source = report.source.kind;
    let mut blocks = Vec::new();
    if report.services.is_empty() {
        blocks.push(NOTHING_SEEN.into());
    }
    blocks.extend(report.services.iter().flat_map(|service| of(service, source)));
    blocks.extend(report.other.iter().flat_map(|other| others(other, source)));
    blocks
}

fn of(service: &Service, source: SourceKind) -> Vec<String> {
    let assessment = &service.assessment;
    let mut blocks = vec![format!("### {}", inline(&title(service))), answer(assessment)];
    let mut lines = particulars(&assessment.verdict);
    lines.extend(expected(&assessment.recommendation));
    if !lines.is_empty() {
        blocks.push(labelled(&lines));
    }
    blocks.push(table(&rows(service, source), false));
    let notes = notes(&service.measured, source);
    if !notes.is_empty() {
        blocks.push(items("-", &notes));
    }
    let [conditions, warnings, others] = lists(&assessment.recommendation);
    for ((label, list), mark) in [(conditions, "- [ ]"), (warnings, "-"), (others, "-")] {
        if !list.is_empty() {
            blocks.push(format!("**{label}**:"));
            blocks.push(items(mark, list));
        }
    }
    blocks.extend(evidence::blocks(assessment));
    blocks
}

/// The cause, and what to do.
fn answer(assessment: &Assessment) -> String {
    let (_, cause) = why(&assessment.verdict);
    let (label, advice) = advice(assessment);
    format!("**{}; {label}: {}**", inline(&cause), inline(&advice))
}

fn items(mark: &str, texts: &[String]) -> String {
    texts.iter().map(|text| format!("{mark} {}", block(text))).collect::<Vec<_>>().join("\n")
}

fn others(other: &OtherServices, source: SourceKind) -> Vec<String> {
    let rows = [headings(), row(at_least(other.services, "services"), &other.measured, None, source)];
    vec![format!("### {OTHERS}"), table(&rows, false)]
}

fn rows(service: &Service, source: SourceKind) -> Vec<Vec<String>> {
    let mut rows = vec![headings()];
    for instance in &service.instances {
        rows.push(row(name(instance), &instance.measured, instance.slow_share, source));
    }
    if let Some(other) = &service.other {
        rows.push(row(at_least(other.instances, "more"), &other.measured, None, source));
    }
    if rows.len() > 2 {
        rows.push(row("all".into(), &service.measured, None, source));
    }
    rows
}

/// The address, marked where the instance is slow as a whole.
fn name(instance: &Instance) -> String {
    let address = inline(&instance.address);
    if instance.elevated { format!("{address} **slow as a whole**") } else { address }
}

fn headings() -> Vec<String> {
    ["instance", "rate", "exchanges", "p50", "p90", "p99", "p99.9", "slow", "in flight"]
        .map(Into::into)
        .into()
}

fn row(name: String, measured: &Measured, slow_share: Option<f64>, source: SourceKind) -> Vec<String> {
    let [p50, p90, p99, p999] = quantiles(measured, source);
    vec![
        name,
        units::rate(measured.rate_per_s),
        units::count(measured.exchanges),
        p50,
        p90,
        p99,
        p999,
        slow_share.map_or_else(|| units::NOTHING.into(), units::percent),
        units::count(measured.in_flight),
    ]
}
