//! One table and one set of histograms a service.

use super::{bars, evidence, recommendation, style::Color, table::Table, verdict};
use crate::{
    printable::printable,
    provenance::SourceKind,
    report::{
        model::{Measured, OtherServices, Report, Service},
        words::{
            services::{NOTHING_SEEN, OTHERS, at_least, bound, notes, quantiles, title},
            units,
        },
    },
};

pub(super) fn lines(report: &Report, color: Color) -> Vec<String> {
    let mut lines = Vec::new();
    if report.services.is_empty() {
        lines.push(String::new());
        lines.push(NOTHING_SEEN.into());
    }
    let source = report.source.kind;
    for service in &report.services {
        lines.extend(service_lines(service, source, color));
    }
    lines.extend(report.other.iter().flat_map(|other| other_lines(other, source, color)));
    lines
}

fn service_lines(service: &Service, source: SourceKind, color: Color) -> Vec<String> {
    let mut rows: Vec<(String, &Measured)> = Vec::new();
    for instance in &service.instances {
        rows.push((printable(&instance.address).into_owned(), &instance.measured));
    }
    if let Some(other) = &service.other {
        rows.push((at_least(other.instances, "more"), &other.measured));
    }
    let histograms = histograms(&rows, color);
    if rows.len() > 1 {
        rows.push(("all".into(), &service.measured));
    }
    let mut lines = vec![String::new(), color.heading(title(service))];
    let assessment = &service.assessment;
    lines.extend(verdict::lines(assessment, color));
    lines.extend(recommendation::lines(assessment, color));
    lines.extend(evidence::lines(assessment, color));
    lines.push(String::new());
    lines.extend(table(&rows, source, color));
    lines.extend(histograms);
    lines.extend(notes(&service.measured, source).iter().map(|note| format!("  {note}")));
    lines
}

fn other_lines(other: &OtherServices, source: SourceKind, color: Color) -> Vec<String> {
    let rows = [(at_least(other.services, "services"), &other.measured)];
    let mut lines = vec![String::new(), color.heading(OTHERS)];
    lines.extend(table(&rows, source, color));
    lines.extend(histograms(&rows, color));
    lines
}

const HEADINGS: [&str; 12] = [
    "instance",
    "rate",
    "exchanges",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "max",
    "last byte p99",
    "read lag p99",
    "in flight",
    "oldest",
];

fn table(rows: &[(String, &Measured)], source: SourceKind, color: Color) -> Vec<String> {
    let mut table = Table::default();
    table.row(HEADINGS.map(Into::into).into());
    for (name, measured) in rows {
        let latency = &measured.latency_s;
        let [p50, p90, p99, p999] = quantiles(measured, source);
        table.row(vec![
            name.clone(),
            units::rate(measured.rate_per_s),
            units::count(measured.exchanges),
            p50,
            p90,
            p99,
            p999,
            bound(latency.max, latency.is_at_least("max"), source),
            bound(measured.last_byte_s.p99, false, source),
            units::known_duration(measured.read_lag_s.p99),
            units::count(measured.in_flight),
            units::known_duration(measured.pending_oldest_s),
        ]);
    }
    let mut lines = table.lines();
    let headings = lines.next().map(|headings| color.faint(headings));
    headings.into_iter().chain(lines).map(|line| format!("  {line}")).collect()
}

fn histograms(rows: &[(String, &Measured)], color: Color) -> Vec<String> {
    let bounds =
        rows.iter().map(|(_, measured)| &measured.latency_histogram.bounds_s).max_by_key(|b| b.len());
    let Some([first, .., last]) = bounds.map(Vec::as_slice) else { return Vec::new() };
    let axis = format!(
        "first-byte latency from {} to {}, two columns for each doubling",
        units::duration(*first),
        units::duration(*last)
    );
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let bars = rows.iter().map(|(name, measured)| {
        let line = format!("  {name:<width$}  {}", bars::line(&measured.latency_histogram));
        line.trim_end().to_owned()
    });
    [String::new(), format!("  {}", color.faint(axis))].into_iter().chain(bars).collect()
}
