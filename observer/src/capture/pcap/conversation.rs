//! One captured connection, fed to the pairing machine as the kernel would.

use observer_common::{
    Connection, Direction, Endpoint, Head, Known, Parties, Role, Segment, TcpFlags, Timestamp,
};

use super::{
    decode::TcpSegment,
    probe::{Out, Probe},
};

/// One captured connection.
#[derive(Debug)]
pub(super) struct Conversation {
    opener: Endpoint,
    pub(super) last_seen: Timestamp,
    probe: Probe,
    /// The opener's first sequence number, where its SYN was captured.
    opening: Option<u32>,
    /// Data of the SYN, until the answer tells whether it was accepted.
    early: Option<Segment>,
    /// How far the observed end has accepted data. Nothing where it has not said so since data came last: only an
    /// acknowledgement after the data tells whether that was accepted.
    accepted: Option<u32>,
    opener_done: bool,
    responder_done: bool,
    reset: bool,
}

impl Conversation {
    /// A connection whose first captured segment is `segment`.
    pub(super) fn begin(number: u64, role: Role, segment: &TcpSegment<'_>, now: Timestamp) -> Self {
        let forwards = if segment.flags.syn() {
            segment.opens()
        } else {
            // Servers listen on low ports, clients get high ones.
            segment.destination.port <= segment.source.port
        };
        let (opener, responder) = if forwards {
            (segment.source, segment.destination)
        } else {
            (segment.destination, segment.source)
        };
        let mut connection = Connection::default();
        if segment.flags.syn() {
            connection.open(role);
        } else {
            connection.open_in_the_middle(role);
        }
        let (local, remote) = if role == Role::Server { (responder, opener) } else { (opener, responder) };
        connection.parties =
            Parties { connection: number, local, remote, dialled: remote, ..Parties::default() };
        Self {
            opener,
            last_seen: now,
            probe: Probe::new(&connection),
            opening: segment.opens().then_some(segment.sequence),
            early: None,
            accepted: None,
            opener_done: false,
            responder_done: false,
            reset: false,
        }
    }

    /// Whether `segment` opens this very connection, for the first time or again.
    pub(super) fn is_opened_by(&self, segment: &TcpSegment<'_>) -> bool {
        self.opening == Some(segment.sequence) && self.opener == segment.source
    }

    /// Whether nothing more is to be expected.
    pub(super) fn is_over(&self) -> bool {
        self.reset || (self.opener_done && self.responder_done)
    }

    /// Takes in one segment.
    pub(super) fn observe(&mut self, now: Timestamp, segment: &TcpSegment<'_>, out: &mut Out<'_>) {
        self.last_seen = now;
        if self.reset {
            return; // stragglers
        }
        let from_opener = segment.source == self.opener;
        let direction = if from_opener == matches!(self.probe.connection().role, Role::Client) {
            Direction::Egress
        } else {
            Direction::Ingress
        };
        if segment.accepts() {
            self.accept(segment, out);
        }
        let received = self.accepted;
        match direction {
            Direction::Egress => {
                self.accepted = segment.acknowledgement.or(self.accepted);
                if let Some(received) = segment.acknowledgement {
                    self.probe.accepted(received, out);
                }
            }
            Direction::Ingress if segment.length != 0 => self.accepted = None,
            Direction::Ingress => {}
        }
        if segment.flags.rst() {
            self.reset = true;
        } else if segment.flags.fin() {
            *(if from_opener { &mut self.opener_done } else { &mut self.responder_done }) = true;
        }
        let ends = segment.flags.0 & (TcpFlags::FIN | TcpFlags::RST) != 0;
        if segment.length == 0 && !ends {
            return; // a bare acknowledgement
        }
        let passed = Segment {
            now,
            direction,
            sequence: segment.sequence,
            length: segment.length,
            flags: segment.flags,
            acknowledged: segment.acknowledgement.into(),
            head: Head::Unknown,
            silent: false,
            received: if matches!(direction, Direction::Ingress)
                && self.probe.connection().asks_for_received(segment.sequence)
            {
                received.into()
            } else {
                Known::NOTHING
            },
        };
        if segment.opens() && matches!(direction, Direction::Ingress) {
            self.early.get_or_insert(passed);
            return;
        }
        self.probe.observe(&passed, segment.payload, out);
    }

    /// The second segment of the handshake tells where both directions begin, and whether data that came with the
    /// first was accepted.
    fn accept(&mut self, segment: &TcpSegment<'_>, out: &mut Out<'_>) {
        let Some(opener_next) = segment.acknowledgement else { return };
        let responder_next = segment.sequence.wrapping_add(1);
        match self.early.take() {
            Some(early) if early.sequence.wrapping_add(1) != opener_next => {
                self.probe.observe(&early, &[], out);
            }
            _ => {}
        }
        match self.probe.connection().role {
            Role::Client => self.probe.established(opener_next, responder_next),
            _ => self.probe.established(responder_next, opener_next),
        }
    }

    /// Nothing more comes.
    pub(super) fn close(&mut self, now: Timestamp, out: &mut Out<'_>) {
        self.probe.close(now, out);
    }

    /// The capture ends here: what still waits is pending.
    pub(super) fn end(&mut self, now: Timestamp, out: &mut Out<'_>) {
        self.probe.end(now, out);
    }
}
