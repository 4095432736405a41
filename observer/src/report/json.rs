//! The report for programs.

use super::Report;

/// Renders the report as JSON: on one line, or indented for people.
pub fn render(report: &Report, indented: bool) -> serde_json::Result<String> {
    let mut text =
        if indented { serde_json::to_string_pretty(report) } else { serde_json::to_string(report) }?;
    text.push('\n');
    Ok(text)
}
