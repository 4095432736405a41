//! One captured connection, fed to the pairing machine as the kernel would.

use observer_common::{
    Closed, Connection, Direction, Endpoint, HEAD_LENGTH, Head, Role, Segment, Step, TcpFlags, Timestamp,
};

use super::decode::TcpSegment;
use crate::exchange::NameId;

/// What the exchanges of a connection have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parties {
    pub(super) service: NameId,
    pub(super) instance: NameId,
    pub(super) client: NameId,
}

/// One captured connection.
#[derive(Debug)]
pub(super) struct Conversation {
    /// Its number in the capture, from 1.
    pub(super) number: u64,
    pub(super) opener: Endpoint,
    pub(super) responder: Endpoint,
    /// The names of both ends, once they were needed.
    pub(super) parties: Option<Parties>,
    pub(super) last_seen: Timestamp,
    connection: Connection,
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
        Self {
            number,
            opener,
            responder,
            parties: None,
            last_seen: now,
            connection,
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
    pub(super) fn observe(&mut self, now: Timestamp, segment: &TcpSegment<'_>) -> Step {
        self.last_seen = now;
        if self.reset {
            return Step::default(); // stragglers
        }
        let from_opener = segment.source == self.opener;
        let direction = if from_opener == matches!(self.connection.role, Role::Client) {
            Direction::Egress
        } else {
            Direction::Ingress
        };
        let early = if segment.accepts() { self.accept(segment) } else { Step::default() };
        let received = self.accepted;
        match direction {
            Direction::Egress => self.accepted = segment.acknowledgement.or(self.accepted),
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
            return early; // a bare acknowledgement
        }
        let passed = Segment {
            now,
            direction,
            sequence: segment.sequence,
            length: segment.length,
            flags: segment.flags,
            acknowledged: segment.acknowledgement,
            head: self.head(segment, direction),
            received: if matches!(direction, Direction::Ingress)
                && self.connection.asks_for_received(segment.sequence)
            {
                received
            } else {
                None
            },
        };
        if segment.opens() && matches!(direction, Direction::Ingress) {
            self.early.get_or_insert(passed);
            return early;
        }
        self.connection.observe(&passed)
    }

    /// The second segment of the handshake tells where both directions begin, and whether data that came with the
    /// first was accepted.
    fn accept(&mut self, segment: &TcpSegment<'_>) -> Step {
        let Some(opener_next) = segment.acknowledgement else { return Step::default() };
        let responder_next = segment.sequence.wrapping_add(1);
        let step = match self.early.take() {
            Some(early) if early.sequence.wrapping_add(1) != opener_next => self.connection.observe(&early),
            _ => Step::default(),
        };
        match self.connection.role {
            Role::Client => self.connection.established(opener_next, responder_next),
            _ => self.connection.established(responder_next, opener_next),
        }
        step
    }

    /// What the payload begins with, where the pairing machine wants to know: as the probes do it.
    fn head(&self, segment: &TcpSegment<'_>, direction: Direction) -> Head {
        if segment.length as usize >= HEAD_LENGTH && self.connection.asks_for_head(direction) {
            segment.head().map_or(Head::Unknown, Head::of)
        } else if segment.length != 0 && self.connection.is_request(direction) {
            Head::Other
        } else {
            Head::Unknown
        }
    }

    /// Nothing more comes.
    pub(super) fn close(&mut self, now: Timestamp) -> Step {
        self.connection.close(now, Closed::GaveUp)
    }
}
