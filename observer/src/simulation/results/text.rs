//! The comparison for a person.

use super::model::{Comparison, PolicyResult, PopulationEstimate, QuantileEstimates, Runs, SystemText};
use crate::{
    report::{
        text::{Color, Table},
        words::units,
    },
    simulation::Estimate,
};

/// Renders the comparison as text.
pub fn render(comparison: &Comparison, color: Color) -> String {
    let mut lines = header(comparison, color);
    lines.push(String::new());
    let mut table = table(&comparison.policies).into_iter();
    lines.extend(table.next().map(|headings| color.heading(headings)));
    lines.extend(table);
    if comparison.policies.iter().any(|policy| policy.hedged.share.high > 0.0) {
        lines.push(String::new());
        let mut table = populations(&comparison.policies).into_iter();
        lines.extend(table.next().map(|headings| color.heading(headings)));
        lines.extend(table);
    }
    lines.push(String::new());
    lines.join("\n")
}

fn header(comparison: &Comparison, color: Color) -> Vec<String> {
    let SystemText { arrivals, rate_per_s, fanout, balancing, instances, slots, discipline, service, .. } =
        &comparison.system;
    let rate = rate_per_s.map(|rate| format!("{} ", units::rate(Some(rate)))).unwrap_or_default();
    let fanout = if *fanout > 1 {
        format!(", {} calls each", units::count(u64::from(*fanout)))
    } else {
        String::new()
    };
    let load = comparison
        .system
        .utilization
        .map(|utilization| format!(", {} of the capacity", units::percent(utilization)))
        .unwrap_or_default();
    vec![
        color.heading("what policies would do, simulated"),
        format!("requests   {rate}{arrivals}{fanout}{load}"),
        format!("instances  {instances} with {slots} slots, {discipline}, balanced {balancing}"),
        format!("service    {service}, {} on average", units::duration(comparison.system.service_mean_s)),
        format!("runs       {}", runs(&comparison.runs)),
    ]
}

fn runs(runs: &Runs) -> String {
    let duration = units::duration(runs.duration_s);
    let limit = if runs.reached_limit {
        format!(", ended by the limit of {} requests", units::count(runs.request_limit))
    } else {
        String::new()
    };
    match runs.seeds {
        1 => format!("seed {}, {duration}{limit}", runs.first_seed),
        seeds => {
            let last = runs.first_seed + u64::from(seeds) - 1;
            let among = if seeds < 20 { "all of them" } else { "nine in ten" };
            format!(
                "seeds {} to {last}, {duration} each{limit}; medians, and between what {among} lie where they differ",
                runs.first_seed
            )
        }
    }
}

/// A column: its heading, and what stands in it for a policy.
type Column = (&'static str, fn(&PolicyResult) -> Cell);

/// A figure and, where seeds differ, its range.
struct Cell {
    median: String,
    range: String,
}

impl Cell {
    fn new(estimate: Option<Estimate>, written: fn(f64) -> String) -> Self {
        let Some(estimate) = estimate else {
            return Self { median: units::NOTHING.into(), range: String::new() };
        };
        let Estimate { median, low, high } = estimate;
        let range = if estimate.is_sure() { String::new() } else { range(&written(low), &written(high)) };
        Self { median: written(median), range }
    }
}

/// Two figures with their common unit once: `164–416 ms`.
fn range(low: &str, high: &str) -> String {
    if low == high {
        return String::new();
    }
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

fn table(policies: &[PolicyResult]) -> Vec<String> {
    let mut columns: Vec<Column> = vec![
        ("p50", |policy| latency(policy.latency_s.p50)),
        ("p95", |policy| latency(policy.latency_s.p95)),
        ("p99", |policy| latency(policy.latency_s.p99)),
        ("p99.9", |policy| latency(policy.latency_s.p999)),
        ("hedged", |policy| Cell::new(Some(policy.hedged.share), units::percent)),
        ("denied", |policy| Cell::new(Some(policy.denied.all), count)),
        ("executions", |policy| Cell::new(Some(policy.executions_per_request), ratio)),
    ];
    if policies.iter().any(|policy| policy.partial_share.high > 0.0) {
        columns.push(("partial", |policy| Cell::new(Some(policy.partial_share), units::percent)));
    }
    if policies.iter().any(|policy| policy.failed_share.high > 0.0) {
        columns.push(("failed", |policy| Cell::new(Some(policy.failed_share), units::percent)));
    }
    let mut table = Table::default();
    let headings = columns.iter().map(|(heading, _)| (*heading).into());
    table.row(std::iter::once("policy".into()).chain(headings).collect());
    for policy in policies {
        let cells: Vec<_> = columns.iter().map(|(_, cell)| cell(policy)).collect();
        add(&mut table, policy.policy.clone(), cells);
    }
    table.lines().collect()
}

fn populations(policies: &[PolicyResult]) -> Vec<String> {
    let mut table = Table::default();
    let headings = ["hedged and unhedged requests apart", "share", "p50", "p95", "p99", "p99.9"];
    table.row(headings.map(Into::into).into());
    for policy in policies.iter().filter(|policy| policy.hedged.share.high > 0.0) {
        for (name, population) in [("unhedged", &policy.unhedged), ("hedged", &policy.hedged)] {
            let PopulationEstimate { share, latency_s: QuantileEstimates { p50, p95, p99, p999 } } =
                population;
            let mut cells = vec![Cell::new(Some(*share), units::percent)];
            cells.extend([p50, p95, p99, p999].map(|quantile| latency(*quantile)));
            add(&mut table, format!("{}: {name}", policy.policy), cells);
        }
    }
    table.lines().collect()
}

/// Adds a row of medians and, unless all seeds agree, one of ranges.
fn add(table: &mut Table, name: String, cells: Vec<Cell>) {
    let (medians, ranges): (Vec<_>, Vec<_>) = cells.into_iter().map(|cell| (cell.median, cell.range)).unzip();
    table.row(std::iter::once(name).chain(medians).collect());
    if ranges.iter().any(|range| !range.is_empty()) {
        table.row(std::iter::once(String::new()).chain(ranges).collect());
    }
}

fn latency(estimate: Option<Estimate>) -> Cell {
    Cell::new(estimate, units::duration)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are small and positive")]
fn count(number: f64) -> String {
    units::count(number.round() as u64)
}

fn ratio(number: f64) -> String {
    format!("{number:.3}")
}
