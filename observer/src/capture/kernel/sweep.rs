//! Exchanges of idle connections: complete, and not emitted before the next request or the close.

use std::collections::HashMap;

use observer_common::{Connection, ExchangeRecord, Nanoseconds, Outcome, Phase, Timestamp};

use super::decode;

/// Which exchanges were handed over from socket storage, so that the event that comes later is not counted twice.
///
/// At most one entry per open connection: an entry goes with its event, or once the connection shows another
/// exchange or is gone from storage for a whole round (its event was lost, and is counted as lost).
#[derive(Debug, Default)]
pub(super) struct HandedOver {
    exchanges: HashMap<u64, Entry>,
    round: u64,
}

#[derive(Debug)]
struct Entry {
    number: u32,
    round: u64,
}

impl HandedOver {
    /// Whether the exchange of this event was handed over before. It is forgotten with that.
    pub(super) fn take(&mut self, record: &ExchangeRecord) -> bool {
        if self.exchanges.is_empty() {
            return false;
        }
        match self.exchanges.get(&record.connection) {
            Some(entry) if entry.number == record.number => {
                self.exchanges.remove(&record.connection);
                true
            }
            _ => false,
        }
    }

    /// Looks through the connections: yields exchanges that still wait, and those complete for `idle` that were
    /// not yielded before.
    pub(super) fn sweep(
        &mut self,
        connections: impl Iterator<Item = Connection>,
        now: Timestamp,
        idle: Nanoseconds,
        mut each: impl FnMut(&ExchangeRecord),
    ) {
        self.round += 1;
        for connection in connections.filter(Connection::is_certain) {
            match connection.phase {
                Phase::Requesting => {
                    if let Some(waiting) = connection.current(now, Outcome::Pending) {
                        each(&decode::record(&connection, &waiting));
                    }
                }
                Phase::Responding if now.since(connection.last).is_some_and(|rest| rest >= idle) => {
                    let round = self.round;
                    let known =
                        self.exchanges.insert(connection.cookie, Entry { number: connection.number, round });
                    let new = known.is_none_or(|entry| entry.number != connection.number);
                    if new && let Some(complete) = connection.current(connection.first, Outcome::Ok) {
                        each(&decode::record(&connection, &complete));
                    }
                }
                _ => {}
            }
        }
        let round = self.round;
        self.exchanges.retain(|_, entry| entry.round + 1 >= round);
    }
}

#[cfg(test)]
mod tests {
    use observer_common::{Direction, Head, Role, Segment, TcpFlags};

    use super::*;

    fn answered(cookie: u64) -> Connection {
        let mut connection = Connection { cookie, ..Connection::default() };
        connection.open(Role::Client);
        connection.established(1, 1);
        let segment = |now, direction| Segment {
            now: Timestamp(now),
            direction,
            sequence: 1,
            length: 10,
            flags: TcpFlags::default(),
            head: Head::Other,
            received: None,
        };
        connection.observe(&segment(100, Direction::Egress));
        connection.observe(&segment(200, Direction::Ingress));
        connection
    }

    #[test]
    fn an_idle_exchange_is_handed_over_once() {
        let mut handed_over = HandedOver::default();
        let connection = answered(7);
        let mut seen = Vec::new();
        for _ in 0..3 {
            handed_over
                .sweep([connection].into_iter(), Timestamp(5_000), Nanoseconds(1_000), |r| seen.push(*r));
        }
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].latency, Nanoseconds(100));
        assert!(handed_over.take(&seen[0]));
        assert!(!handed_over.take(&seen[0]));
    }

    #[test]
    fn a_busy_exchange_is_left_alone() {
        let mut handed_over = HandedOver::default();
        let mut seen = 0;
        handed_over.sweep([answered(7)].into_iter(), Timestamp(1_100), Nanoseconds(1_000), |_| seen += 1);
        assert_eq!(seen, 0);
    }

    #[test]
    fn a_connection_that_is_gone_is_forgotten() {
        let mut handed_over = HandedOver::default();
        handed_over.sweep([answered(7)].into_iter(), Timestamp(5_000), Nanoseconds(1_000), |_| {});
        for _ in 0..2 {
            handed_over.sweep(std::iter::empty(), Timestamp(6_000), Nanoseconds(1_000), |_| {});
        }
        assert!(handed_over.exchanges.is_empty());
    }
}
