//! From records of the kernel border to exchanges.

use std::collections::HashMap;

use observer_common::{
    COMM_LENGTH, Completed, Connection, Endpoint, ExchangeRecord, Nanoseconds, Outcome, Phase, Role,
    Timestamp, UNKNOWN_DURATION,
};

use crate::exchange::{Exchange, NameId, Names};

/// Turns records into exchanges. Names are looked up by their binary form, so that a known instance costs no
/// allocation.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    endpoints: HashMap<Endpoint, NameId>,
    services: HashMap<u32, NameId>,
    processes: HashMap<[u8; COMM_LENGTH], NameId>,
    statuses: HashMap<u16, NameId>,
}

impl Decoder {
    /// The exchange that a record describes.
    pub(super) fn exchange(&mut self, record: &ExchangeRecord, names: &mut Names) -> Exchange {
        let (instance, service_port) = match record.role {
            Role::Server => (record.local, record.local.port),
            _ => (record.remote, record.dialled.port),
        };
        let translated = record.role != Role::Server && record.dialled != record.remote;
        let comm = self.process(&record.comm, names);
        let mut exchange = Exchange::new(
            record.start,
            self.service(service_port, names),
            self.endpoint(instance, names),
            record.latency,
        );
        exchange.complete = known(record.complete);
        exchange.sent = known(record.sent);
        exchange.read_lag = known(record.read_lag);
        exchange.outcome = record.outcome;
        exchange.request_bytes = Some(record.request_bytes);
        exchange.response_bytes = Some(record.response_bytes);
        exchange.srtt = srtt(record.srtt_eighths);
        exchange.retransmits = Some(record.retransmits);
        exchange.connection = Some(record.connection);
        exchange.client = if record.role == Role::Client { comm } else { None };
        exchange.role = record.role;
        exchange.protocol = record.protocol.name().map(|name| names.id(name));
        exchange.status = self.status(record.status, names);
        exchange.failed = record.protocol.is_failure(record.status.into());
        exchange.comm = comm;
        exchange.pid = (record.pid != 0).then_some(record.pid);
        exchange.service_address = translated.then(|| self.endpoint(record.dialled, names));
        exchange
    }

    fn endpoint(&mut self, endpoint: Endpoint, names: &mut Names) -> NameId {
        *self.endpoints.entry(endpoint).or_insert_with(|| names.id(&endpoint.to_socket_addr().to_string()))
    }

    fn service(&mut self, port: u32, names: &mut Names) -> NameId {
        *self.services.entry(port).or_insert_with(|| names.id(&format!(":{port}")))
    }

    fn process(&mut self, comm: &[u8; COMM_LENGTH], names: &mut Names) -> Option<NameId> {
        let length = comm.iter().position(|byte| *byte == 0).unwrap_or(COMM_LENGTH);
        if length == 0 {
            return None;
        }
        Some(
            *self
                .processes
                .entry(*comm)
                .or_insert_with(|| names.id(&String::from_utf8_lossy(&comm[..length]))),
        )
    }

    fn status(&mut self, status: u16, names: &mut Names) -> Option<NameId> {
        if status == 0 {
            return None;
        }
        Some(*self.statuses.entry(status).or_insert_with(|| names.id(&status.to_string())))
    }
}

/// The record of an exchange that is not over, as it stands `now`: answered so far, or still waiting.
pub(super) fn unfinished(connection: &Connection, now: Timestamp) -> Option<ExchangeRecord> {
    let (until, outcome) = match connection.phase {
        Phase::Requesting => (now, Outcome::Pending),
        Phase::Responding => (connection.first, Outcome::Ok),
        _ => return None,
    };
    if !connection.is_certain() {
        return None;
    }
    connection.current(until, outcome).map(|current| record(connection, &current))
}

/// The record that the probes would have written for a connection's current exchange.
fn record(connection: &Connection, completed: &Completed) -> ExchangeRecord {
    ExchangeRecord {
        connection: connection.cookie,
        start: completed.start,
        sent: completed.sent,
        latency: completed.latency,
        complete: completed.complete,
        read_lag: completed.read_lag,
        request_bytes: completed.request_bytes,
        response_bytes: completed.response_bytes,
        number: completed.number,
        retransmits: completed.retransmits,
        srtt_eighths: 0,
        pid: connection.pid,
        local: connection.local,
        remote: connection.remote,
        dialled: connection.dialled,
        comm: connection.comm,
        status: u16::try_from(completed.status).unwrap_or(0),
        role: connection.role,
        protocol: completed.protocol,
        outcome: completed.outcome,
        reserved: [0; 7],
    }
}

fn known(duration: Nanoseconds) -> Option<Nanoseconds> {
    (duration != UNKNOWN_DURATION).then_some(duration)
}

/// The kernel keeps the smoothed round-trip time as eighths of a microsecond.
fn srtt(eighths: u32) -> Option<Nanoseconds> {
    (eighths != 0).then(|| Nanoseconds(u64::from(eighths) * 125))
}

#[cfg(test)]
mod tests {
    use observer_common::{Direction, Head, Protocol, Segment, TcpFlags};

    use super::*;

    fn endpoint(text: &str) -> Endpoint {
        Endpoint::from_socket_addr(text.parse().unwrap())
    }

    #[test]
    fn a_translated_connection_keeps_both_addresses() {
        let mut connection = Connection { cookie: 7, ..Connection::default() };
        connection.role = Role::Client;
        connection.local = endpoint("192.0.2.9:40000");
        connection.remote = endpoint("192.0.2.1:8080");
        connection.dialled = endpoint("198.51.100.1:80");
        connection.comm[..4].copy_from_slice(b"curl");
        let completed = Completed {
            start: Timestamp(5),
            latency: Nanoseconds(10),
            read_lag: UNKNOWN_DURATION,
            status: 503,
            protocol: Protocol::Http1,
            ..Completed::default()
        };
        let mut names = Names::default();
        let exchange = Decoder::default().exchange(&record(&connection, &completed), &mut names);
        assert_eq!(names.text(exchange.instance), "192.0.2.1:8080");
        assert_eq!(exchange.service_address.map(|id| names.text(id)), Some("198.51.100.1:80"));
        assert_eq!(names.text(exchange.service), ":80");
        assert_eq!(exchange.client.map(|id| names.text(id)), Some("curl"));
        assert_eq!(exchange.status.map(|id| names.text(id)), Some("503"));
        assert_eq!(exchange.read_lag, None);
        assert!(exchange.failed);
    }

    fn segment(now: u64, direction: Direction) -> Segment {
        Segment {
            now: Timestamp(now),
            direction,
            sequence: 1,
            length: 10,
            flags: TcpFlags::default(),
            acknowledged: None,
            head: Head::Other,
            received: None,
        }
    }

    #[test]
    fn an_unfinished_exchange_is_pending_until_it_is_answered() {
        let mut connection = Connection::default();
        connection.open(Role::Client);
        connection.established(1, 1);
        assert!(unfinished(&connection, Timestamp(50)).is_none());
        connection.observe(&segment(100, Direction::Egress));
        let waiting = unfinished(&connection, Timestamp(150)).unwrap();
        assert_eq!((waiting.outcome, waiting.latency), (Outcome::Pending, Nanoseconds(50)));
        connection.observe(&segment(200, Direction::Ingress));
        let answered = unfinished(&connection, Timestamp(900)).unwrap();
        assert_eq!((answered.outcome, answered.latency), (Outcome::Ok, Nanoseconds(100)));
    }

    #[test]
    fn round_trip_times_are_eighths_of_microseconds() {
        assert_eq!(srtt(8), Some(Nanoseconds(1_000)));
        assert_eq!(srtt(0), None);
    }
}
