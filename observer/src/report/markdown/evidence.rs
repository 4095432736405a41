//! What verdict and advice rest on: folded, for who wants to know more.

use super::{escape::inline, labelled, table::table};
use crate::{
    analysis::model::Assessment,
    report::words::evidence::{alternatives, facts, notes},
};

/// The evidence, other budgets, wide requests and copies that are there already; nothing where there is none of these.
pub(super) fn blocks(assessment: &Assessment) -> Vec<String> {
    let facts = facts(&assessment.verdict.evidence);
    let alternatives = alternatives(&assessment.recommendation);
    let notes = notes(assessment);
    let mut blocks = Vec::new();
    for (rows, ends_with_text) in [(facts, true), (alternatives, false)] {
        if !rows.is_empty() {
            let escaped: Vec<_> =
                rows.iter().map(|row| row.iter().map(|cell| inline(cell)).collect()).collect();
            blocks.push(table(&escaped, ends_with_text));
        }
    }
    if !notes.is_empty() {
        blocks.push(labelled(&notes));
    }
    if !blocks.is_empty() {
        // Markdown goes on after an empty line.
        blocks.insert(0, "<details>\n<summary>Evidence and other budgets</summary>".into());
        blocks.push("</details>".into());
    }
    blocks
}
