//! What was observed, when and how; loudly what is missing.

use super::{escape::inline, labelled};
use crate::report::{
    model::Report,
    words::header::{how, observed, tool, unpaired, warnings},
};

/// What comes last, where it does not stand in the way of the answer.
const MEASURED: &str = "How it was measured";

/// What the report is of, and whether something at its end must not be overlooked.
pub(super) fn first(report: &Report) -> Vec<String> {
    let mut blocks = vec![format!("## {}: {}", inline(&tool(report)), how(report))];
    let mut labels: Vec<_> = warnings(report).map(|(label, _)| label).collect();
    labels.dedup();
    if !labels.is_empty() {
        blocks.push(format!("**{}**: see \"{MEASURED}\" below.", labels.join(", ")));
    }
    blocks
}

/// Window, exchanges, what was lost, and what could not be seen.
pub(super) fn last(report: &Report) -> Vec<String> {
    let mut lines = observed(report);
    lines.extend(unpaired(report));
    lines.extend(warnings(report));
    vec![format!("### {MEASURED}"), labelled(&lines)]
}
