//! Exchange logs: Parquet and CSV, by whomever they were written.
//!
//! Only `start_ns`, `instance` and `latency_ns` are required. The columns are those of
//! [`COLUMNS`](crate::recording::columns::COLUMNS); others are ignored with a note.

use std::path::Path;

use super::Opened;
use crate::{
    exchange::{Exchange, Names},
    provenance::Provenance,
};

mod csv;
mod error;
mod header;
mod parquet;

pub use error::{Place, TableError};

/// The service of rows that name none.
const DEFAULT_SERVICE: &str = "default";

/// What a Parquet file begins and ends with.
const PARQUET_MAGIC: &[u8; 4] = b"PAR1";

/// How to read an exchange log.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableOptions {
    /// Whether bad rows are left out and counted, instead of ending the reading with an error.
    pub skip_bad_rows: bool,
}

/// What was read besides the exchanges.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRead {
    /// What the recording says of itself; a table without metadata says nothing.
    pub provenance: Provenance,
    /// What the reader should know, one sentence each.
    pub notes: Vec<String>,
    /// How many exchanges there were.
    pub rows: u64,
    /// How many rows were bad and left out.
    pub skipped_rows: u64,
}

/// Reads an exchange log and hands each exchange to `sink`, in the order of the file.
///
/// # Errors
///
/// What is wrong with the file, in one sentence. What went to `sink` before is then to be thrown away.
pub fn read(
    path: &Path,
    options: &TableOptions,
    names: &mut Names,
    sink: &mut dyn FnMut(&Exchange, &Names),
) -> Result<TableRead, TableError> {
    let open = |source| TableError::Open { path: path.to_owned(), source };
    if path.is_dir() {
        return Err(TableError::IsDirectory { path: path.to_owned() });
    }
    read_from(path, Opened::open(path).map_err(open)?, options, names, sink)
}

/// Reads what is open already, and called `path` in messages; otherwise as [`read`].
///
/// # Errors
///
/// As [`read`].
pub fn read_from(
    path: &Path,
    opened: Opened,
    options: &TableOptions,
    names: &mut Names,
    sink: &mut dyn FnMut(&Exchange, &Names),
) -> Result<TableRead, TableError> {
    if opened.head().is_empty() {
        return Err(TableError::Empty { path: path.to_owned() });
    }
    let named_parquet = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
    if opened.head().starts_with(PARQUET_MAGIC) || named_parquet {
        let file = opened.into_file().map_err(|source| TableError::Open { path: path.to_owned(), source })?;
        parquet::read(path, file, *options, names, sink)
    } else {
        csv::read(path, opened.into_stream(), *options, names, sink)
    }
}

/// A value that others of its row contradict.
struct Contradiction {
    column: &'static str,
    found: String,
    /// What it has to be.
    expected: &'static str,
}

/// What contradicts itself in a row; nothing where all of it can be.
fn contradiction(exchange: &Exchange) -> Option<Contradiction> {
    let complete = exchange.complete.filter(|complete| *complete < exchange.latency)?;
    let found = complete.0.to_string();
    Some(Contradiction { column: "complete_ns", found, expected: "no less than latency_ns" })
}

#[cfg(test)]
mod tests;
