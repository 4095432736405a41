//! Why an exchange log cannot be read.

use std::{fmt, io, path::PathBuf};

use crate::{capture::budget::LONGEST_RECORD, recording::metadata::MetadataError};

/// Where in a file a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, from 1.
    Line(u64),
    /// A row of a Parquet file, from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(formatter, "line {line}"),
            Self::Row(row) => write!(formatter, "row {row}"),
        }
    }
}

/// Why an exchange log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be read at all.
    #[error("cannot read '{}': {source}; name a file that exists and may be read", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The path names a directory.
    #[error("cannot read '{}': it is a directory; name a file in it", path.display())]
    IsDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// The file holds nothing.
    #[error("'{}' is empty: an exchange log has at least a header; record it again", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file is no Parquet, or not all of it.
    #[error(
        "'{}' cannot be decoded as Parquet ({reason}): it is cut off, damaged, or compressed with something else \
         than snappy or zstd; write it again",
        path.display()
    )]
    NotParquet {
        /// The file.
        path: PathBuf,
        /// What the decoder found.
        reason: String,
    },
    /// The table is something else than an exchange log.
    #[error(
        "'{}' is no exchange log: it has no column {missing} (its columns: {found}); rename or add what is missing",
        path.display()
    )]
    MissingColumns {
        /// The file.
        path: PathBuf,
        /// The required columns that are not there.
        missing: String,
        /// The columns that are there.
        found: String,
    },
    /// A column is there twice.
    #[error("'{}' has column '{column}' twice: keep one of them", path.display())]
    DuplicateColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// A Parquet column has a type that cannot hold its values.
    #[error("'{}', column {column}: its type is {found}, expected {expected}; cast it", path.display())]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// Its type.
        found: String,
        /// What its values have to be.
        expected: &'static str,
    },
    /// A value cannot be used.
    #[error(
        "'{}', {place}, column {column}: {} expected {expected}; correct it, or leave such rows out with \
         --skip-bad-rows",
        path.display(),
        found.as_ref().map_or("the value is missing,".to_owned(), |value| format!("found '{value}',"))
    )]
    BadValue {
        /// The file.
        path: PathBuf,
        /// The row.
        place: Place,
        /// The column.
        column: String,
        /// The value, where there is one.
        found: Option<String>,
        /// What it has to be.
        expected: &'static str,
    },
    /// A CSV row is longer or shorter than the header.
    #[error(
        "'{}', {place}: it has {found} fields where the header has {expected}; correct it, or leave such rows out \
         with --skip-bad-rows",
        path.display()
    )]
    FieldCount {
        /// The file.
        path: PathBuf,
        /// The row.
        place: Place,
        /// How many fields it has.
        found: usize,
        /// How many the header has.
        expected: usize,
    },
    /// A record of a CSV file does not end.
    #[error(
        "'{}', {place}: what begins there is longer than {} KiB; look for a quote that is not closed, or name another \
         file",
        path.display(),
        LONGEST_RECORD / 1_024
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Where it begins.
        place: Place,
    },
    /// The recording's metadata cannot be used.
    #[error("'{}' cannot be used: {source}", path.display())]
    Metadata {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: MetadataError,
    },
}
