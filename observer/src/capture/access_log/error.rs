//! Why an access log cannot be read.

use std::{io, path::PathBuf};

use crate::capture::budget::LONGEST_RECORD;

/// Why an access log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AccessLogError {
    /// The file cannot be read at all.
    #[error("cannot read '{}': {source}; name a file that exists and may be read", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file holds nothing.
    #[error("'{}' is empty: name an access log with requests in it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// No line of the file is one of a request.
    #[error(
        "'{}' holds no request: none of its {lines} lines is one of an access log in this format; name another file, \
         or say with --from what it is",
        path.display()
    )]
    NoRequests {
        /// The file.
        path: PathBuf,
        /// How many lines it has.
        lines: u64,
    },
    /// A JMeter results file does not begin with the names of its columns.
    #[error(
        "'{}' has no header with {missing}: save results as CSV with their field names \
         (jmeter.save.saveservice.output_format=csv, jmeter.save.saveservice.print_field_names=true)",
        path.display()
    )]
    NoHeader {
        /// The file.
        path: PathBuf,
        /// The required columns that are not there.
        missing: String,
    },
    /// A column is there twice.
    #[error("'{}' has column '{column}' twice: keep one of them", path.display())]
    DuplicateColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// A line cannot be used.
    #[error(
        "'{}', line {line}: found '{found}', expected {expected}; correct it, or leave such lines out with \
         --skip-bad-rows",
        path.display()
    )]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong, as found.
        found: String,
        /// What it has to be.
        expected: &'static str,
    },
    /// A line does not end.
    #[error(
        "'{}', line {line}: it is longer than {} KiB; name another file",
        path.display(),
        LONGEST_RECORD / 1_024
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
}
