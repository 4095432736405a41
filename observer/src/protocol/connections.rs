//! What is remembered of connections, bounded.

use std::mem;

use super::{LeftOut, kind::Kind, statements::Statements, verdict::Verdict};
use crate::maps::HashMap;

/// How many connections are remembered at most.
pub(super) const LIMIT: usize = 10_000;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Requests and responses.
    #[default]
    Ordinary,
    /// Messages come unasked.
    Pushing,
    /// Data flows without requests.
    Streaming,
    /// Its messages are compressed: they cannot be read.
    Compressed,
    /// Commands are not answered until some later one is.
    Silent,
    /// Requests are sent while answers to earlier ones are due.
    Sliding,
}

/// What is remembered of a connection whose protocol is certain.
#[derive(Debug)]
pub(super) struct Connection {
    /// Its protocol.
    pub(super) kind: Kind,
    /// What it is doing.
    pub(super) mode: Mode,
    /// Whether its requests come in the protocol's framed form: Redis arrays, not lines.
    pub(super) framed: bool,
    /// How many turns in a row did not begin as the protocol's messages do.
    pub(super) contradictions: u8,
    /// The most requests of HTTP/1 that were seen in one turn.
    pub(super) requests: usize,
    /// Its prepared statements.
    pub(super) statements: Statements,
}

impl Connection {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            mode: Mode::Ordinary,
            framed: false,
            contradictions: 0,
            requests: 0,
            statements: Statements::default(),
        }
    }
}

/// The connections, in two generations: when the younger one is full, the older one is forgotten. Whatever was
/// used since moved to the younger, so the least recently used go first, without a list to keep in order.
#[derive(Debug, Default)]
pub(super) struct Connections {
    young: HashMap<u64, Connection>,
    old: HashMap<u64, Connection>,
}

impl Connections {
    /// What is remembered of a connection.
    pub(super) fn get(&mut self, connection: u64) -> Option<&mut Connection> {
        if !self.old.is_empty()
            && let Some(known) = self.old.remove(&connection)
        {
            return Some(self.insert(connection, known));
        }
        self.young.get_mut(&connection)
    }

    /// Remembers a connection.
    pub(super) fn insert(&mut self, connection: u64, known: Connection) -> &mut Connection {
        if self.young.len() >= LIMIT / 2 && !self.young.contains_key(&connection) {
            self.old.clear();
            mem::swap(&mut self.young, &mut self.old);
        }
        let entry = self.young.entry(connection).insert_entry(known);
        entry.into_mut()
    }

    /// What a turn of HTTP/1 is, in which so many requests were seen. Where a batch is followed by a turn of fewer
    /// requests, these may have been sent when some of its answers were still to come: from there on nobody knows
    /// which request an answer belongs to.
    pub(super) fn pipelined(&mut self, connection: u64, requests: usize, verdict: Verdict) -> Verdict {
        let known = match self.get(connection) {
            Some(known) if known.kind == Kind::Http1 => known,
            _ if requests > 1 => self.insert(connection, Connection::new(Kind::Http1)),
            _ => return verdict,
        };
        if requests < known.requests {
            known.mode = Mode::Sliding;
        }
        known.requests = known.requests.max(requests);
        if known.mode == Mode::Sliding { Verdict::LeftOut(LeftOut::Overlapping) } else { verdict }
    }

    /// Forgets a connection.
    pub(super) fn remove(&mut self, connection: u64) {
        self.young.remove(&connection);
        self.old.remove(&connection);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_go_first() {
        let mut connections = Connections::default();
        for number in 0..100_000 {
            connections.insert(number, Connection::new(Kind::Redis));
            assert!(connections.get(0).is_some(), "used all the time");
            assert!(connections.len() <= LIMIT);
        }
        assert!(connections.get(99_999).is_some());
        assert!(connections.get(1).is_none());
        connections.remove(0);
        assert!(connections.get(0).is_none());
    }
}
