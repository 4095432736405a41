mod envoy;
mod files;
mod haproxy;
mod hostile;
mod jtl;
mod nginx;

use std::{fs, path::Path};

use observer_common::{Nanoseconds, Outcome};
use tempfile::tempdir;

use super::*;

/// An exchange with the texts of its names.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    service: String,
    instance: String,
    class: Option<String>,
    status: Option<String>,
    exchange: Exchange,
}

impl Row {
    fn outcome(&self) -> Outcome {
        self.exchange.outcome
    }

    fn start_ms(&self) -> u64 {
        assert_eq!(self.exchange.start.0 % 1_000_000, 0);
        self.exchange.start.0 / 1_000_000
    }

    fn latency_ms(&self) -> u64 {
        self.exchange.latency.0 / 1_000_000
    }

    fn complete_ms(&self) -> Option<u64> {
        self.exchange.complete.map(|Nanoseconds(complete)| complete / 1_000_000)
    }
}

fn read_with(
    format: AccessLogFormat,
    content: impl AsRef<[u8]>,
    skip_bad_rows: bool,
) -> Result<(AccessLogRead, Vec<Row>), AccessLogError> {
    let directory = tempdir().unwrap();
    let path = directory.path().join("x.log");
    fs::write(&path, content).unwrap();
    let mut rows = Vec::new();
    let read = read_from(
        Path::new("x.log"),
        Opened::open(&path).unwrap(),
        &AccessLogOptions { format, skip_bad_rows },
        &mut Names::default(),
        &mut |exchange, names| {
            let text = |id| names.text(id).to_owned();
            rows.push(Row {
                service: text(exchange.service),
                instance: text(exchange.instance),
                class: exchange.class.map(text),
                status: exchange.status.map(text),
                exchange: *exchange,
            });
        },
    )?;
    assert_eq!(read.exchanges, rows.len() as u64);
    Ok((read, rows))
}

/// The rows of these lines, which must be recognised as what they are.
fn rows(format: AccessLogFormat, lines: &str) -> Vec<Row> {
    assert_eq!(recognise(lines.as_bytes()), Some(format), "{lines}");
    read_with(format, format!("{lines}\n"), false).unwrap().1
}

fn row(format: AccessLogFormat, line: &str) -> Row {
    let mut rows = rows(format, line);
    assert_eq!(rows.len(), 1, "{line}");
    rows.remove(0)
}

/// What a file lacks, by the names in the report.
fn lacks(format: AccessLogFormat, content: &str) -> Vec<String> {
    let read = read_with(format, content, false).unwrap().0;
    read.provenance.degraded.into_iter().map(|degradation| degradation.what).collect()
}

fn refused(format: AccessLogFormat, content: impl AsRef<[u8]>) -> String {
    read_with(format, content, false).unwrap_err().to_string()
}
