//! What was observed, when and how; loudly what is missing.

use super::style::Color;
use crate::report::{
    model::Report,
    words::header::{how, observed, tool, unpaired, warnings},
};

pub(super) fn lines(report: &Report, color: Color) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", color.heading(tool(report)), how(report))];
    lines.extend(observed(report).iter().map(|(label, text)| color.plain(line(label, text))));
    lines.extend(unpaired(report).map(|(label, text)| color.faint(line(label, &text))));
    lines.extend(warnings(report).map(|(label, text)| color.warning(format!("{label}: {text}"))));
    lines
}

fn line(label: &str, text: &str) -> String {
    format!("{label:<10} {text}")
}
