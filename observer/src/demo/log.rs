//! What the client saw with its own eyes, as an exchange log.

use std::{net::SocketAddr, path::Path};

use observer_common::{Nanoseconds, Outcome, Protocol, Timestamp};

use super::CLIENT_COMMAND;
use crate::{
    clock::{monotonic, wall_offset_ns},
    exchange::{Exchange, Names},
    provenance::{Provenance, SourceKind, Window},
    recording::{CsvRecorder, RecordingError},
};

/// One request of the client, timed around its own system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Before the request was written.
    pub(super) start: Timestamp,
    /// Who was asked.
    pub(super) instance: SocketAddr,
    /// The socket's cookie.
    pub(super) connection: u64,
    /// After the first response byte was read, or the waiting was given up.
    pub(super) latency: Nanoseconds,
    /// The length of the request, in bytes.
    pub(super) request_bytes: usize,
    /// How it ended.
    pub(super) outcome: Outcome,
    /// What came back, where something did.
    pub(super) answer: Option<Answer>,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// After the last response byte was read, from the start.
    pub(super) complete: Nanoseconds,
    /// Its HTTP status code.
    pub(super) status: u16,
    /// Its length, in bytes.
    pub(super) bytes: usize,
}

impl Entry {
    /// The same in the words that the probes use too.
    fn exchange(&self, names: &mut Names) -> Exchange {
        let service = names.id(&format!(":{}", self.instance.port()));
        let instance = names.id(&self.instance.to_string());
        let client = names.id(CLIENT_COMMAND);
        Exchange {
            complete: self.answer.map(|answer| answer.complete),
            outcome: self.outcome,
            request_bytes: Some(self.request_bytes as u64),
            response_bytes: self.answer.map(|answer| answer.bytes as u64),
            connection: Some(self.connection),
            client: Some(client),
            protocol: Protocol::Http1.name().map(|name| names.id(name)),
            status: self.answer.map(|answer| names.id(&answer.status.to_string())),
            failed: self.answer.is_some_and(|answer| Protocol::Http1.is_failure(answer.status.into())),
            comm: Some(client),
            pid: Some(std::process::id()),
            ..Exchange::new(self.start, service, instance, self.latency)
        }
    }
}

/// Writes the exchange log of a client that has run since `start`.
pub(super) fn write(path: &Path, mut entries: Vec<Entry>, start: Timestamp) -> Result<(), RecordingError> {
    entries.sort_by_key(|entry| entry.start);
    let mut names = Names::default();
    let mut log = CsvRecorder::create(path)?;
    for entry in &entries {
        log.write(&entry.exchange(&mut names), &names)?;
    }
    let window = Window {
        start,
        duration: monotonic().since(start).unwrap_or_default(),
        wall_offset_ns: Some(wall_offset_ns()),
    };
    log.finish(&Provenance { window: Some(window), ..Provenance::of(SourceKind::DemoClient) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::table::{self, TableOptions};

    #[test]
    fn a_log_reads_back_as_it_was_written() {
        let answered = Entry {
            start: Timestamp(1_000),
            instance: "127.0.0.11:80".parse().unwrap(),
            connection: 42,
            latency: Nanoseconds(500),
            request_bytes: 70,
            outcome: Outcome::Ok,
            answer: Some(Answer { complete: Nanoseconds(600), status: 503, bytes: 1_234 }),
        };
        let unanswered = Entry {
            start: Timestamp(2_000),
            instance: "127.0.0.12:80".parse().unwrap(),
            outcome: Outcome::Reset,
            answer: None,
            ..answered
        };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.csv");
        write(&path, vec![unanswered, answered], Timestamp(500)).unwrap();

        let mut names = Names::default();
        let mut exchanges = Vec::new();
        let mut keep = |exchange: &Exchange, _: &Names| exchanges.push(*exchange);
        let read = table::read(&path, &TableOptions::default(), &mut names, &mut keep).unwrap();
        assert_eq!(read.provenance.kind, SourceKind::DemoClient);
        assert_eq!(exchanges, [answered, unanswered].map(|entry| entry.exchange(&mut names)));
        assert_eq!(names.text(exchanges[1].service), ":80");
        assert!(exchanges[0].failed);
    }

    #[test]
    fn a_log_without_requests_is_a_log() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.csv");
        write(&path, Vec::new(), Timestamp(500)).unwrap();
        let read =
            table::read(&path, &TableOptions::default(), &mut Names::default(), &mut |_, _| ()).unwrap();
        assert_eq!(read.rows, 0);
    }
}
