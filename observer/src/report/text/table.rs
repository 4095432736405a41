//! A table whose columns are as wide as they must be.

/// Rows of cells under headings: the first column is aligned to the left, all others to the right.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// Whether the last column is text, which is aligned to the left too.
    ends_with_text: bool,
}

impl Table {
    /// A table whose last column is text.
    pub(crate) fn ending_with_text() -> Self {
        Self { rows: Vec::new(), ends_with_text: true }
    }

    /// Adds a row; the first one is the headings.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The lines, without trailing blanks.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        self.rows.iter().map(move |row| {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column == 0 {
                    line.push_str(&format!("{cell:<width$}"));
                } else if self.ends_with_text && column + 1 == columns {
                    line.push_str(&format!("  {cell}"));
                } else {
                    line.push_str(&format!("  {cell:>width$}"));
                }
            }
            line.truncate(line.trim_end().len());
            line
        })
    }
}
