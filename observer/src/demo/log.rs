//! What the client saw with its own eyes, as an exchange log.

use std::{
    fs::File,
    io::{self, Write},
    net::SocketAddr,
    path::Path,
};

use observer_common::{Nanoseconds, Outcome, Timestamp};
use serde::Serialize;

use super::CLIENT_COMMAND;

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

/// The columns of the exchange log that the client can fill, with the words that the probes use too.
#[derive(Serialize)]
struct Row {
    start_ns: u64,
    service: String,
    instance: SocketAddr,
    latency_ns: u64,
    complete_ns: Option<u64>,
    outcome: &'static str,
    request_bytes: usize,
    response_bytes: Option<usize>,
    connection: u64,
    client: &'static str,
    role: &'static str,
    protocol: &'static str,
    status: Option<u16>,
    failed: bool,
    comm: &'static str,
    pid: u32,
}

impl From<&Entry> for Row {
    fn from(entry: &Entry) -> Self {
        Self {
            start_ns: entry.start.0,
            service: format!(":{}", entry.instance.port()),
            instance: entry.instance,
            latency_ns: entry.latency.0,
            complete_ns: entry.answer.map(|answer| answer.complete.0),
            outcome: entry.outcome.name(),
            request_bytes: entry.request_bytes,
            response_bytes: entry.answer.map(|answer| answer.bytes),
            connection: entry.connection,
            client: CLIENT_COMMAND,
            role: observer_common::Role::Client.name(),
            protocol: "http1",
            status: entry.answer.map(|answer| answer.status),
            failed: entry.answer.is_some_and(|answer| answer.status >= 500),
            comm: CLIENT_COMMAND,
            pid: std::process::id(),
        }
    }
}

/// Writes an exchange log in the order of the starts.
pub(super) fn write(path: &Path, mut entries: Vec<Entry>) -> io::Result<()> {
    entries.sort_by_key(|entry| entry.start);
    let mut file = to_csv(&entries, File::create(path)?)?;
    file.flush()
}

fn to_csv<W: Write>(entries: &[Entry], to: W) -> io::Result<W> {
    let mut writer = csv::Writer::from_writer(to);
    for entry in entries {
        writer.serialize(Row::from(entry))?;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_the_columns_of_the_contract() {
        let answered = Entry {
            start: Timestamp(1_000),
            instance: "127.0.0.11:80".parse().unwrap(),
            connection: 42,
            latency: Nanoseconds(500),
            request_bytes: 70,
            outcome: Outcome::Ok,
            answer: Some(Answer { complete: Nanoseconds(600), status: 200, bytes: 1_234 }),
        };
        let unanswered = Entry {
            start: Timestamp(2_000),
            instance: "127.0.0.12:80".parse().unwrap(),
            outcome: Outcome::Reset,
            answer: None,
            ..answered
        };
        let bytes = to_csv(&[answered, unanswered], Vec::new()).unwrap();
        let pid = std::process::id();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            format!(
                "start_ns,service,instance,latency_ns,complete_ns,outcome,request_bytes,response_bytes,\
                 connection,client,role,protocol,status,failed,comm,pid\n\
                 1000,:80,127.0.0.11:80,500,600,ok,70,1234,42,demo-client,client,http1,200,false,demo-client,{pid}\n\
                 2000,:80,127.0.0.12:80,500,,reset,70,,42,demo-client,client,http1,,false,demo-client,{pid}\n"
            )
        );
    }
}
