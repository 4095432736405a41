//! What the client saw with its own eyes, as exchanges.

use observer_common::{Outcome, Protocol};

use super::{
    records::{CopyRecord, Ending},
    system::Wire,
    truth::Truth,
    wire::Class,
};
use crate::{
    clock::wall_offset_ns,
    exchange::{Exchange, Names},
    http2::grpc::Status,
    provenance::{Provenance, SourceKind, Window},
    recording::{Recorder, RecordingError},
};

/// The client's process, as the probes name it too.
const CLIENT: &str = "demo-client";

impl Truth {
    /// Every copy of a request as the client saw it, in the order of their beginnings. A copy that was never sent is
    /// none.
    pub fn exchanges(&self, names: &mut Names) -> Vec<Exchange> {
        self.copies.iter().map(|copy| self.exchange(copy, names)).collect()
    }

    /// Where the client's exchanges come from, and their window.
    pub fn provenance(&self) -> Provenance {
        let ends = self.requests.iter().map(|request| request.ended).max().unwrap_or(self.start);
        let window = Window {
            start: self.start,
            duration: ends.since(self.start).unwrap_or_default(),
            wall_offset_ns: Some(wall_offset_ns()),
        };
        Provenance { window: Some(window), ..Provenance::of(SourceKind::DemoClient) }
    }

    /// Writes the client's exchange log, with the columns `request` and `attempt`, and lets it appear.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written.
    pub fn write_client_log(&self, mut log: Recorder) -> Result<(), RecordingError> {
        let mut names = Names::default();
        for exchange in self.exchanges(&mut names) {
            log.write(&exchange, &names)?;
        }
        log.finish(&self.provenance())
    }

    fn exchange(&self, copy: &CopyRecord, names: &mut Names) -> Exchange {
        let service = names.id(&format!(":{}", copy.instance.port()));
        let instance = names.id(&copy.instance.to_string());
        let client = names.id(CLIENT);
        let wire = self.scenario.system.wire;
        let (protocol, class) = match (wire, copy.class) {
            (Wire::Http1, Class::Ordinary) => ("http1", "GET /item/{n}"),
            (Wire::Http1, Class::Expensive) => ("http1", "GET /search/{n}"),
            (Wire::Grpc, class) => ("grpc", class.method()),
        };
        let (outcome, answer) = match copy.ending {
            Ending::Answered { status, complete } => (Outcome::Ok, Some((status, complete))),
            Ending::Cancelled => (Outcome::Cancelled, None),
            Ending::Reset => (Outcome::Reset, None),
        };
        Exchange {
            complete: answer.map(|(_, complete)| complete),
            outcome,
            class: Some(names.id(class)),
            connection: Some(copy.connection),
            client: Some(client),
            protocol: Some(names.id(protocol)),
            status: answer.map(|(status, _)| names.id(&status_text(wire, status))),
            failed: answer.is_some_and(|(status, _)| is_failure(wire, status)),
            comm: Some(client),
            pid: Some(self.client_pid),
            request: Some(copy.request),
            attempt: Some(copy.attempt.number()),
            ..Exchange::new(copy.start, service, instance, copy.latency)
        }
    }
}

fn is_failure(wire: Wire, status: u16) -> bool {
    match wire {
        Wire::Http1 => Protocol::Http1.is_failure(status.into()),
        Wire::Grpc => Status::of(status).is_failure(),
    }
}

/// As the probes print it.
fn status_text(wire: Wire, status: u16) -> String {
    match wire {
        Wire::Http1 => status.to_string(),
        Wire::Grpc => Status::of(status).text().to_owned(),
    }
}
