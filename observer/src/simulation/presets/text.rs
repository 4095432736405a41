//! A preset for a person.

use super::{PresetComparison, measure::Unit, model::FigureResult};
use crate::report::{
    text::{Color, Table},
    words::units,
};

/// Renders what was published against what is simulated.
pub fn render(comparison: &PresetComparison, color: Color) -> String {
    let last = comparison.first_seed + u64::from(comparison.seeds).saturating_sub(1);
    let among = if comparison.seeds < 20 { "all" } else { "nine in ten" };
    let mut lines = vec![
        format!("{}: {}", color.heading(&comparison.preset), comparison.about),
        format!("published  {}", comparison.source),
        format!(
            "simulated  seeds {} to {last}: medians, and between what {among} of them lie where they differ",
            comparison.first_seed
        ),
        String::new(),
    ];
    let mut table = table(comparison).into_iter();
    lines.extend(table.next().map(|headings| color.heading(headings)));
    lines.extend(table);
    if !comparison.remarks.is_empty() {
        lines.push(String::new());
        lines.extend(comparison.remarks.iter().map(|remark| color.faint(remark)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn table(comparison: &PresetComparison) -> Vec<String> {
    let mut table = Table::default();
    let headings = ["case", "figure", "published", "exact", "simulated", "range", "seeds ≤ published"];
    table.row(headings.map(Into::into).into());
    for case in &comparison.cases {
        for (place, figure) in case.figures.iter().enumerate() {
            let label = if place == 0 { case.case.clone() } else { String::new() };
            table.row(std::iter::once(label).chain(cells(figure)).collect());
        }
    }
    table.lines().collect()
}

fn cells(figure: &FigureResult) -> [String; 6] {
    let written = |value| written(value, figure.unit);
    let known = |value: Option<f64>| value.map_or_else(|| units::NOTHING.into(), written);
    let estimate = figure.simulated;
    // Where all seeds agree there is nothing to say about how many.
    let (range, up_to) = if estimate.is_sure() {
        (String::new(), String::new())
    } else {
        let up_to = figure.seeds_up_to_published.map(|share| format!("{:.0} %", share * 100.0));
        let (low, high) = (written(estimate.low), written(estimate.high));
        let range = if low == high { String::new() } else { format!("{low} … {high}") };
        (range, up_to.unwrap_or_default())
    };
    [
        figure.name.clone(),
        known(figure.published),
        known(figure.exact),
        written(estimate.median),
        range,
        up_to,
    ]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are positive")]
fn written(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => units::duration(value),
        Unit::Share => units::percent(value),
        Unit::Ratio => format!("{value:.3}"),
        Unit::Count => units::count(value.round() as u64),
    }
}
