//! What verdict and advice rest on: for who wants to know more.

use super::{style::Color, table::Table, verdict::line};
use crate::{
    analysis::model::{Assessment, Recommendation},
    printable::printable,
    report::words::{
        evidence::{alternatives, facts, notes},
        recommendation::lists,
    },
};

/// Further conditions and warnings, the evidence, other budgets, wide requests, and copies that are there already.
pub(super) fn lines(assessment: &Assessment, color: Color) -> Vec<String> {
    let recommendation = &assessment.recommendation;
    let mut lines = further(recommendation, color);
    lines.extend(table(Table::ending_with_text(), facts(&assessment.verdict.evidence), color));
    lines.extend(table(Table::default(), alternatives(recommendation), color));
    let notes = notes(assessment);
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes.iter().map(|(label, text)| color.plain(line(label, text))));
    }
    lines
}

/// What did not fit into the lines above.
fn further(recommendation: &Recommendation, color: Color) -> Vec<String> {
    let mut lines = Vec::new();
    for (label, list) in lists(recommendation) {
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

/// The lines of a table of these rows under an empty one; none where there are no rows.
fn table(mut table: Table, rows: Vec<Vec<String>>, color: Color) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    for row in rows {
        table.row(row.iter().map(|cell| printable(cell).into_owned()).collect());
    }
    let mut lines = table.lines().map(|line| format!("  {line}"));
    let headings = lines.next().map(|headings| color.faint(headings));
    [String::new()].into_iter().chain(headings).chain(lines).collect()
}
