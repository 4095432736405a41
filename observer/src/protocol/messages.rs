//! From a turn to a finding.

use observer_common::Protocol;

use super::{
    Description, Finding, LeftOut, Turn, bucket,
    connections::{Connection, Connections},
    http1,
    kind::Kind,
    memcached, mysql, postgresql, recognise, redis,
    text::Text,
    verdict::Verdict,
    vocabulary::Vocabulary,
};

/// After so many turns in a row that contradict a connection's protocol, it is no longer believed.
const PATIENCE: u8 = 3;

/// Reads turns: what is known of connections, and the classes seen so far. All of it is bounded, and nothing is
/// allocated for a turn of a connection and a class that were seen before.
#[derive(Debug)]
pub struct Messages {
    connections: Connections,
    classes: [Vocabulary; Kind::COUNT],
    statuses: [Vocabulary; Kind::COUNT],
    class: Text,
    status: Text,
}

impl Default for Messages {
    fn default() -> Self {
        Self::new()
    }
}

impl Messages {
    /// Knows no connection yet.
    pub fn new() -> Self {
        Self {
            connections: Connections::default(),
            classes: std::array::from_fn(|_| Vocabulary::new()),
            statuses: std::array::from_fn(|_| Vocabulary::new()),
            class: Text::new(),
            status: Text::new(),
        }
    }

    /// What a turn is. The turns of a connection come in their order.
    pub fn describe(&mut self, turn: &Turn<'_>) -> Finding<'_> {
        self.class.clear();
        self.status.clear();
        let (kind, verdict) = self.read(turn);
        let failed = match verdict {
            Verdict::Exchange { failed } => failed,
            Verdict::LeftOut(reason) => return Finding::LeftOut(reason),
            Verdict::Contradiction => return Finding::LeftOut(LeftOut::Overlapping),
        };
        if self.class.is_empty() && kind.is_opaque() {
            bucket::write(&mut self.class, turn.request_bytes, turn.response_bytes);
        }
        Finding::Exchange(Description {
            protocol: kind.name(),
            class: bounded(&mut self.classes[kind as usize], &self.class),
            status: bounded(&mut self.statuses[kind as usize], &self.status),
            failed,
        })
    }

    fn read(&mut self, turn: &Turn<'_>) -> (Kind, Verdict) {
        match turn.protocol {
            Protocol::Http1 => {
                let (verdict, requests) = http1::read(turn, &mut self.class, &mut self.status);
                // Only a server of HTTP answers so: then the request is one that goes on from before.
                if verdict != Verdict::Contradiction || turn.response.starts_with(b"HTTP/1.") {
                    return (Kind::Http1, self.connections.pipelined(turn.connection, requests, verdict));
                }
            }
            Protocol::Tls => return (Kind::Tls, tls(turn)),
            Protocol::Http2 => return (Kind::Http2, Verdict::FINE),
            Protocol::Upgraded => return (Kind::Upgraded, Verdict::FINE),
            Protocol::Unknown | Protocol::Other | Protocol::Mysql => {}
        }
        let Some((kind, verdict, contradictions)) = self.read_known(turn) else {
            return self.meet(turn);
        };
        if verdict != Verdict::Contradiction {
            return (kind, verdict);
        }
        // The guess was wrong, or this is the middle of a message: the bytes decide where they can.
        let other = recognise::kind(turn).filter(|&other| other != kind);
        if contradictions >= PATIENCE || other.is_some() {
            self.connections.remove(turn.connection);
        }
        if other.is_some() { self.meet(turn) } else { (kind, verdict) }
    }

    /// Reads a turn of a connection whose protocol is known: that, what the turn is, and how many turns in a row
    /// contradicted it.
    fn read_known(&mut self, turn: &Turn<'_>) -> Option<(Kind, Verdict, u8)> {
        let connection = self.connections.get(turn.connection).filter(|known| known.kind != Kind::Http1)?;
        let kind = connection.kind;
        let (class, status, classes) = (&mut self.class, &mut self.status, &mut self.classes[kind as usize]);
        let verdict = match kind {
            Kind::Tls => tls(turn),
            _ if turn.request.is_empty() => Verdict::FINE,
            Kind::Redis => redis::read(turn, connection, class, status),
            Kind::PostgreSql => postgresql::read(turn, connection, classes, class, status),
            Kind::MySql => mysql::read(turn, connection, classes, class, status),
            Kind::Memcached => memcached::read(turn, connection, class, status),
            Kind::Unknown | Kind::Http1 | Kind::Http2 | Kind::Upgraded => Verdict::FINE,
        };
        connection.contradictions =
            if verdict == Verdict::Contradiction { connection.contradictions.saturating_add(1) } else { 0 };
        Some((kind, verdict, connection.contradictions))
    }

    /// Reads the first turn that tells, or one of a connection that has not told yet.
    fn meet(&mut self, turn: &Turn<'_>) -> (Kind, Verdict) {
        self.class.clear();
        self.status.clear();
        let Some(kind) = recognise::kind(turn) else {
            return (Kind::Unknown, Verdict::FINE);
        };
        // Every request of HTTP says what it is: there is nothing to remember, but for pipelines.
        if kind == Kind::Http1 {
            let (verdict, requests) = http1::read(turn, &mut self.class, &mut self.status);
            return (kind, self.connections.pipelined(turn.connection, requests, verdict));
        }
        self.connections.insert(turn.connection, Connection::new(kind));
        if let Some((_, verdict, 0)) = self.read_known(turn) {
            return (kind, verdict);
        }
        self.connections.remove(turn.connection);
        (Kind::Unknown, Verdict::FINE)
    }

    #[cfg(test)]
    pub(super) fn connection(&mut self, connection: u64) -> Option<&mut Connection> {
        self.connections.get(connection)
    }

    #[cfg(test)]
    pub(super) fn connections(&self) -> usize {
        self.connections.len()
    }
}

/// The text as the vocabulary has it; nothing where it is empty.
fn bounded<'a>(vocabulary: &'a mut Vocabulary, text: &Text) -> Option<&'a str> {
    if text.is_empty() {
        return None;
    }
    let word = vocabulary.word(text.as_str());
    Some(vocabulary.text(word))
}

/// A turn of a connection that is encrypted: handshake messages and the change of cipher are no request (RFC 8446,
/// section 5.1), and what comes with the latter is answered by more than its response.
fn tls(turn: &Turn<'_>) -> Verdict {
    if matches!(turn.request, [0x14 | 0x16, 0x03, ..]) {
        return Verdict::LeftOut(LeftOut::Handshake);
    }
    Verdict::FINE
}
