//! From records to exchanges.

use std::collections::BTreeMap;

use observer_common::{
    Endpoint, ExchangeRecord, Nanoseconds, Outcome, Parties, PayloadRecord, Protocol, Reason, Role,
    Timestamp, UNKNOWN_DURATION,
};

use super::{
    Record, Who, hello,
    multiplexed::{self, Multiplexed},
};
use crate::{
    exchange::{Exchange, NameId, Names},
    http2::{Ended, Event},
    maps::Recent,
    protocol::{Classes, Finding, LeftOut, Messages, Turn},
};

/// How many connections of TLS are remembered with what their clients offered.
const MOST_HELLOS: usize = 65_536;

/// Where exchanges go.
type Sink<'a> = dyn FnMut(&Exchange, &Names) + 'a;

/// Turns records into exchanges. Those of one connection come in their order.
#[derive(Debug, Default)]
pub struct Finisher {
    who: Who,
    rest: Rest,
    multiplexed: Multiplexed,
}

/// What is not about who and not about streams.
#[derive(Debug, Default)]
struct Rest {
    messages: Messages,
    classes: Classes,
    /// Whether the exchanges of a connection of TLS can be told apart.
    hellos: Recent<u64, Option<bool>, MOST_HELLOS>,
    unpaired: BTreeMap<Reason, u64>,
}

impl Finisher {
    /// With what is known beforehand about who is who.
    pub fn new(who: Who) -> Self {
        Self { who, ..Self::default() }
    }

    /// Who is who, to tell it more.
    pub fn who(&mut self) -> &mut Who {
        &mut self.who
    }

    /// Whether a record is the first of a connection that is to be named.
    pub fn meets(&self, record: &Record<'_>) -> bool {
        match record {
            Record::Exchange(record) => !self.who.knows(record.parties.connection),
            Record::Opened(_) => true,
            Record::Frame(..) | Record::Closed(_) | Record::Hello(_) | Record::Names(_) => false,
        }
    }

    /// Some records were lost, `now` at the latest: frames, or the end of a connection, may be among them.
    pub fn lose(&mut self, now: Timestamp) {
        self.multiplexed.lose(now);
    }

    /// Whether a record ends a connection with streams, of which some may be open.
    pub fn ends_streams(&self, record: &Record<'_>) -> bool {
        matches!(record, Record::Closed(record) if self.multiplexed.follows(record.parties.connection))
    }

    /// Takes in one record, seen at `now`.
    pub fn take(&mut self, record: &Record<'_>, now: Timestamp, names: &mut Names, sink: &mut Sink<'_>) {
        let Self { who, rest, multiplexed } = self;
        let mut stream = |role: Role, parties: &Parties, event: Event<'_>| match event {
            Event::Ended(ended) => {
                let exchange = rest.stream(who, role, parties, &ended, now, names);
                sink(&exchange, names);
            }
            Event::LeftOut { reason, .. } => rest.count(multiplexed::reason(reason)),
        };
        match record {
            Record::Exchange(record) => {
                if let Some(exchange) = rest.turn(who, record, now, names) {
                    sink(&exchange, names);
                }
            }
            Record::Frame(record, data) => {
                if !multiplexed.frame(record, data, &mut stream)
                    && record.complete == 1
                    && record.flags & 1 == 1
                {
                    rest.count(Reason::Http2);
                }
            }
            Record::Opened(record) => multiplexed.open(record, &mut stream),
            Record::Closed(record) => {
                multiplexed.close(record.parties.connection, record.now, record.outcome, &mut stream);
            }
            Record::Hello(record) => rest.hello(record),
            Record::Names(record) => {
                let data = &record.data[..usize::from(record.kept)];
                // Over TCP a message follows its length (RFC 1035, section 4.2.2).
                let message = if record.stream == 1 { data.get(2..).unwrap_or_default() } else { data };
                who.hear(message, record.truncated == 1);
            }
        }
    }

    /// The exchange of a record that is not over; nothing where it is none to be measured.
    pub fn unfinished(
        &mut self,
        record: &ExchangeRecord,
        now: Timestamp,
        names: &mut Names,
    ) -> Option<Exchange> {
        self.rest.turn(&mut self.who, record, now, names)
    }

    /// The exchanges on streams that are not over at `now`.
    pub fn unfinished_streams(&mut self, now: Timestamp, names: &mut Names, sink: &mut Sink<'_>) {
        let Self { who, rest, multiplexed } = self;
        multiplexed.unfinished(now, |role, parties, ended| {
            let exchange = rest.stream(who, role, parties, &ended, now, names);
            sink(&exchange, names);
        });
    }

    /// What was no certain pair, by reason.
    pub fn unpaired(&self) -> &BTreeMap<Reason, u64> {
        &self.rest.unpaired
    }
}

impl Rest {
    fn count(&mut self, reason: Reason) {
        *self.unpaired.entry(reason).or_default() += 1;
    }

    fn hello(&mut self, record: &PayloadRecord) {
        let hello = &record.data[..usize::from(record.kept)];
        self.hellos.insert(record.connection, hello::offers_http2(hello));
    }

    /// An exchange that was paired by turns.
    fn turn(
        &mut self,
        who: &mut Who,
        record: &ExchangeRecord,
        now: Timestamp,
        names: &mut Names,
    ) -> Option<Exchange> {
        let ExchangeRecord { completed, parties, heads, kept, .. } = record;
        if completed.protocol == Protocol::Tls
            && self.hellos.get(&parties.connection).copied().flatten() != Some(false)
        {
            // HTTP/2 may be inside, whose streams nobody can tell apart from out here.
            self.count(Reason::Overlapping);
            return None;
        }
        let responder = if completed.role == Role::Server { parties.local } else { parties.dialled };
        let finding = self.messages.describe(&Turn {
            connection: parties.connection,
            port: port(responder),
            protocol: completed.protocol,
            request: heads.request(*kept),
            request_bytes: completed.request_bytes,
            response: heads.response(*kept),
            response_bytes: completed.response_bytes,
            answered: completed.outcome == Outcome::Ok,
        });
        let description = match finding {
            Finding::Exchange(description) => description,
            Finding::LeftOut(left_out) => {
                self.count(reason(left_out));
                return None;
            }
        };
        let known = who.names(completed.role, parties, description.protocol, now, names);
        Some(Exchange {
            // The clocks of two processors may disagree.
            complete: measured(completed.complete).map(|complete| complete.max(completed.latency)),
            sent: measured(completed.sent),
            read_lag: measured(completed.read_lag),
            outcome: completed.outcome,
            class: description.class.map(|class| names.id(class)),
            request_bytes: Some(completed.request_bytes),
            response_bytes: Some(completed.response_bytes),
            srtt: srtt(record.srtt_eighths),
            retransmits: Some(completed.retransmits),
            connection: Some(parties.connection),
            client: known.client,
            role: completed.role,
            protocol: description.protocol.map(|name| names.id(name)),
            status: description.status.map(|status| names.id(status)),
            failed: description.failed,
            comm: known.comm,
            pid: known.pid,
            cgroup: known.cgroup,
            service_address: known.service_address,
            ..Exchange::new(completed.start, known.service, known.instance, completed.latency)
        })
    }

    /// An exchange on a stream.
    fn stream(
        &mut self,
        who: &mut Who,
        role: Role,
        parties: &Parties,
        ended: &Ended<'_>,
        now: Timestamp,
        names: &mut Names,
    ) -> Exchange {
        let protocol = if ended.grpc { "grpc" } else { "http2" };
        let known = who.names(role, parties, Some(protocol), now, names);
        let class: Option<NameId> = ended.class.map(|class| names.id(self.classes.bounded(class)));
        Exchange {
            complete: ended.complete,
            sent: Some(ended.sent),
            outcome: ended.outcome,
            class,
            request_bytes: Some(ended.request_bytes),
            response_bytes: Some(ended.response_bytes),
            connection: Some(parties.connection),
            client: known.client,
            role,
            protocol: Some(names.id(protocol)),
            status: ended.status.map(|status| names.id(status)),
            failed: ended.failed,
            comm: known.comm,
            pid: known.pid,
            cgroup: known.cgroup,
            service_address: known.service_address,
            ..Exchange::new(ended.start, known.service, known.instance, ended.latency)
        }
    }
}

/// The reason under which a turn is counted.
const fn reason(left_out: LeftOut) -> Reason {
    match left_out {
        LeftOut::Handshake => Reason::Handshake,
        LeftOut::Push => Reason::Push,
        LeftOut::Unanswered => Reason::Unanswered,
        LeftOut::Streaming => Reason::Streaming,
        LeftOut::Overlapping => Reason::Overlapping,
    }
}

fn port(endpoint: Endpoint) -> u16 {
    u16::try_from(endpoint.port).unwrap_or_default()
}

fn measured(duration: Nanoseconds) -> Option<Nanoseconds> {
    (duration != UNKNOWN_DURATION).then_some(duration)
}

/// The kernel keeps the smoothed round-trip time as eighths of a microsecond.
fn srtt(eighths: u32) -> Option<Nanoseconds> {
    (eighths != 0).then(|| Nanoseconds(u64::from(eighths) * 125))
}
