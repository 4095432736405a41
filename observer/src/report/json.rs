//! Outputs for programs.

use serde::Serialize;

/// Renders an output as JSON: on one line, or indented for people.
pub fn render(output: &impl Serialize, indented: bool) -> serde_json::Result<String> {
    let mut text =
        if indented { serde_json::to_string_pretty(output) } else { serde_json::to_string(output) }?;
    text.push('\n');
    Ok(text)
}
