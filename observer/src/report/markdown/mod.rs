//! The report for chat and pull requests: GitHub-flavoured Markdown that also reads well as it is written.

mod escape;
mod evidence;
mod header;
mod services;
mod table;

use super::Report;

/// Renders the report as Markdown. Another one may follow: the last block is a list, which a heading ends.
pub fn render(report: &Report) -> String {
    let mut blocks = header::first(report);
    blocks.extend(services::blocks(report));
    blocks.extend(header::last(report));
    blocks.join("\n\n") + "\n"
}

/// A list of what is labelled, each label in bold.
fn labelled(lines: &[super::words::Line]) -> String {
    let items = lines.iter().map(|(label, text)| format!("- **{label}**: {}", escape::inline(text)));
    items.collect::<Vec<_>>().join("\n")
}
