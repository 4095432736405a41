//! The report for a person.

mod bars;
mod evidence;
mod header;
mod recommendation;
mod services;
mod style;
mod table;
mod verdict;

pub use self::style::Color;
pub(crate) use self::table::Table;
use super::Report;

/// Renders the report as text.
pub fn render(report: &Report, color: Color) -> String {
    let mut lines = header::lines(report, color);
    lines.extend(services::lines(report, color));
    lines.push(String::new());
    lines.join("\n")
}
