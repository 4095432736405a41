//! Which column of a file is which column of the log.

use std::path::Path;

use super::TableError;
use crate::{
    printable::excerpt,
    recording::columns::{COLUMNS, ColumnIndex, index_of},
};

/// Foreign columns that are named one by one; of garbage there can be any number.
const MOST_NAMED: usize = 20;

/// The columns of a file that are used.
#[derive(Debug)]
pub(super) struct Header {
    /// Place in the file and number in [`COLUMNS`], in the order of the file.
    pub(super) columns: Vec<(usize, ColumnIndex)>,
    /// What is ignored.
    pub(super) notes: Vec<String>,
}

impl Header {
    /// From the file's column names, in order.
    pub(super) fn of<'a>(path: &Path, found: impl Iterator<Item = &'a str>) -> Result<Self, TableError> {
        let found: Vec<&str> = found.collect();
        let mut header = Self { columns: Vec::new(), notes: Vec::new() };
        let mut unknown = 0;
        for (place, name) in found.iter().enumerate() {
            let Some(index) = index_of(name) else {
                unknown += 1;
                if unknown <= MOST_NAMED {
                    let name = excerpt(name);
                    header
                        .notes
                        .push(format!("'{}': column '{name}' is unknown and ignored", path.display()));
                }
                continue;
            };
            if header.columns.iter().any(|(_, known)| *known == index) {
                let column = COLUMNS[index].name;
                return Err(TableError::DuplicateColumn { path: path.to_owned(), column });
            }
            header.columns.push((place, index));
        }
        let missing: Vec<&str> = COLUMNS
            .iter()
            .enumerate()
            .filter(|(index, column)| {
                column.is_required() && header.columns.iter().all(|(_, known)| known != index)
            })
            .map(|(_, column)| column.name)
            .collect();
        if !missing.is_empty() {
            let (missing, found) = (missing.join(", "), listed(&found));
            return Err(TableError::MissingColumns { path: path.to_owned(), missing, found });
        }
        if unknown > MOST_NAMED {
            let more = unknown - MOST_NAMED;
            header.notes.push(format!("'{}': {more} more columns are unknown and ignored", path.display()));
        }
        Ok(header)
    }
}

fn listed(columns: &[&str]) -> String {
    let named: Vec<_> = columns.iter().take(MOST_NAMED).map(|name| excerpt(name)).collect();
    let more = if columns.len() > MOST_NAMED { ", …" } else { "" };
    named.join(", ") + more
}
