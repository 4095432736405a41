//! Why requests are slow, in at most three lines.

use super::style::Color;
use crate::{
    analysis::model::Assessment,
    report::words::verdict::{particulars, why},
};

/// How wide the words are that lines begin with.
const LABEL: usize = 9;

/// A line of what is to be read first.
pub(super) fn line(label: &str, text: &str) -> String {
    format!("  {label:<LABEL$} {text}")
}

/// The cause, the slow requests, and where or when they are; or what is missing.
pub(super) fn lines(assessment: &Assessment, color: Color) -> Vec<String> {
    let (label, text) = why(&assessment.verdict);
    let mut lines = vec![color.heading(line(label, &text))];
    let rest = particulars(&assessment.verdict);
    lines.extend(rest.iter().map(|(label, text)| color.plain(line(label, text))));
    lines
}
