//! Access logs of proxies and of load generators: what people have already.
//!
//! ```text
//! lines ──> nginx · haproxy · envoy ──> entries ──> gathered ──> Exchange
//! records ──────────> jtl ────────────────┘
//! ```
//!
//! Each try of a backend is an exchange, as the client of that backend saw it: connecting, waiting for a connection and
//! reading the request before it were not the backend's time and are left out wherever the log tells them apart.
//! `docs/access-logs.md` says which field becomes what.

use std::{
    io::{self, Read},
    path::Path,
};

use super::{Opened, budget::Budget};
use crate::{
    exchange::{Exchange, Names},
    provenance::Provenance,
};

mod entry;
mod envoy;
mod error;
mod fields;
mod gathered;
mod haproxy;
mod jtl;
mod lack;
mod lines;
mod nginx;
mod recognise;
mod request;
mod time;
mod tokens;
mod tries;

pub use error::AccessLogError;
pub use recognise::recognise;

use entry::{Bad, Found, Kind};
use gathered::Gathered;
use lines::Lines;

/// Who wrote an access log, and in which format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessLogFormat {
    /// nginx: JSON of its variables, or `combined` with pairs of them.
    Nginx,
    /// HAProxy: `option httplog` or `option httpslog`.
    Haproxy,
    /// Envoy: the default text, Istio's, or JSON.
    Envoy,
    /// JMeter: a results file in CSV.
    Jtl,
}

/// How to read an access log.
#[derive(Clone, Copy, Debug)]
pub struct AccessLogOptions {
    /// Who wrote it.
    pub format: AccessLogFormat,
    /// Whether bad lines are left out and counted, instead of ending the reading with an error.
    pub skip_bad_rows: bool,
}

/// What was read besides the exchanges.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessLogRead {
    /// From the first exchange to the last, and what such a log cannot tell.
    pub provenance: Provenance,
    /// What the reader should know, one sentence each.
    pub notes: Vec<String>,
    /// How many exchanges there were.
    pub exchanges: u64,
    /// How many lines were bad and left out.
    pub skipped_rows: u64,
}

/// Reads an access log and hands each exchange to `sink`, in the order of the file. `path` is what messages call it.
///
/// # Errors
///
/// What is wrong with the file, in one sentence. What went to `sink` before is then to be thrown away.
pub fn read_from(
    path: &Path,
    opened: Opened,
    options: &AccessLogOptions,
    names: &mut Names,
    sink: &mut dyn FnMut(&Exchange, &Names),
) -> Result<AccessLogRead, AccessLogError> {
    if opened.head().is_empty() {
        return Err(AccessLogError::Empty { path: path.to_owned() });
    }
    let source = opened.into_stream();
    let mut gathered = Gathered::new(path, options.skip_bad_rows, names, sink);
    match options.format {
        AccessLogFormat::Nginx => each_line(source, nginx::parse, &mut gathered),
        AccessLogFormat::Haproxy => each_line(source, haproxy::parse, &mut gathered),
        AccessLogFormat::Envoy => each_line(source, envoy::parse, &mut gathered),
        AccessLogFormat::Jtl => jtl::read(source, &mut gathered),
    }?;
    gathered.finish()
}

/// What a format makes of one line; the exchanges are added to what was found.
type Parse = fn(&str, &mut Found) -> Result<Kind, Bad>;

fn each_line(source: impl Read, parse: Parse, gathered: &mut Gathered<'_>) -> Result<(), AccessLogError> {
    let mut lines = Lines::new(source);
    let budget = lines.budget();
    loop {
        let number = lines.next_number();
        let line = lines.next_line().map_err(|error| unreadable(gathered, number, &budget, error))?;
        let Some(line) = line else { return Ok(()) };
        if line.text.trim().is_empty() {
            continue;
        }
        // Cut off, a number may still look like one.
        if !line.ended && !line.text.ends_with(['"', '}']) {
            gathered.cut_off();
            continue;
        }
        gathered.line(number, |found| parse(&line.text, found))?;
    }
}

/// Why the line at hand cannot be read.
fn unreadable(gathered: &Gathered<'_>, line: u64, budget: &Budget, source: io::Error) -> AccessLogError {
    let path = gathered.path().to_owned();
    if budget.is_spent() {
        AccessLogError::TooLong { path, line }
    } else {
        AccessLogError::Open { path, source }
    }
}

#[cfg(test)]
mod tests;
