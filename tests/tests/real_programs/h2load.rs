//! h2load, and its log of every request.

use std::{fs, process::Command};

use anyhow::{Context as _, Result, ensure};
use observer_common::Nanoseconds;
use observer_tests::{clock::WallOffset, process::succeed, span::Span};
use tempfile::TempDir;

use crate::server::{PATIENCE, program};

/// What h2load is to do.
pub(crate) struct Load<'a> {
    pub(crate) url: String,
    pub(crate) requests: usize,
    pub(crate) connections: usize,
    /// Requests under way at once on each connection.
    pub(crate) at_once: usize,
    pub(crate) further: &'a [&'a str],
}

/// What it logged of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logged {
    /// From before the request was handed to the connection until after its response had been read.
    pub(crate) span: Span,
    /// What it says this took.
    pub(crate) duration: Nanoseconds,
}

/// By how much a logged duration may fall short: two readings of a clock of whole microseconds.
pub(crate) const RESOLUTION: Nanoseconds = Nanoseconds(1_000);

impl Load<'_> {
    /// Runs it; all requests must succeed.
    pub(crate) fn run(&self) -> Result<Vec<Logged>> {
        let directory = TempDir::new()?;
        let log = directory.path().join("log");
        let before = WallOffset::read();
        succeed(
            Command::new(program("h2load")?)
                .args(["-n", &self.requests.to_string(), "-c", &self.connections.to_string()])
                .args(["-m", &self.at_once.to_string()])
                .args(self.further)
                .arg(format!("--log-file={}", log.display()))
                .arg(&self.url),
            PATIENCE,
        )?;
        let offset = before.until(WallOffset::read());
        let text = fs::read_to_string(&log).context("h2load's log")?;
        let logged: Vec<Logged> = text.lines().map(|line| entry(line, offset)).collect::<Result<_>>()?;
        ensure!(logged.len() == self.requests, "h2load logs {} requests of {}", logged.len(), self.requests);
        Ok(logged)
    }
}

/// A line: when the request began in microseconds since 1970, its status, and how many microseconds passed until the
/// end of its response.
fn entry(line: &str, offset: WallOffset) -> Result<Logged> {
    let mut cells = line.split('\t').map(str::parse::<i64>);
    let mut cell = || cells.next().context("h2load logs three columns")?.context("a number");
    let (start, status, duration) = (cell()?, cell()?, cell()?);
    ensure!(status == 200, "h2load logs a failed request: {line}");
    let (start, duration) = (start.unsigned_abs() * 1_000, duration.unsigned_abs() * 1_000);
    Ok(Logged {
        span: Span {
            start: offset.earliest(start),
            // The start, and the duration, were cut off to whole microseconds.
            end: offset.latest(start + duration + 1_000 + RESOLUTION.0),
        },
        duration: Nanoseconds(duration),
    })
}
