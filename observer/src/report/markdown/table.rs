//! A table whose columns are as wide as they must be, so that it can be read as it is written.

/// A table of these rows, the headings first, all cells escaped already. The first column is aligned to the left, as is
/// the last one where it is text; all others to the right.
pub(super) fn table(rows: &[Vec<String>], ends_with_text: bool) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(|column| width(column).max(2)).collect();
    let is_text = |column: usize| column == 0 || ends_with_text && column + 1 == columns;
    let mut lines: Vec<_> = rows
        .iter()
        .map(|row| {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                // Nothing follows the last one: it needs no padding.
                match (is_text(column), column + 1 == columns) {
                    (true, true) => cell.clone(),
                    (true, false) => format!("{cell:<width$}"),
                    (false, _) => format!("{cell:>width$}"),
                }
            });
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        })
        .collect();
    let rule = widths.iter().enumerate().map(|(column, width)| match is_text(column) {
        true if column + 1 == columns => "---".into(),
        true => "-".repeat(width + 2),
        false => format!("{}:", "-".repeat(width + 1)),
    });
    lines.insert(lines.len().min(1), format!("|{}|", rule.collect::<Vec<_>>().join("|")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [["name", "rate", "meaning"], ["a", "12,345/s", "b"]];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        let text = "\
            | name |     rate | meaning |\n\
            |------|---------:|---|\n\
            | a    | 12,345/s | b |";
        assert_eq!(table(&rows, true), text);
    }
}
