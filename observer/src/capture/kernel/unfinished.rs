//! From the state of a connection to the record of what is not over there.

use observer_common::{Connection, ExchangeRecord, Outcome, Phase, Timestamp};

/// The record of an exchange that is not over, as it stands `now`: answered so far, or still waiting.
pub(super) fn record(connection: &Connection, now: Timestamp) -> Option<ExchangeRecord> {
    let (until, outcome) = match connection.phase {
        Phase::Requesting => (now, Outcome::Pending),
        Phase::Responding => (connection.first, Outcome::Ok),
        _ => return None,
    };
    if !connection.is_certain() {
        return None;
    }
    connection.current(until, outcome).map(|current| ExchangeRecord::new(connection, current, 0))
}

#[cfg(test)]
mod tests {
    use observer_common::{Direction, Head, Known, Nanoseconds, Role, Segment, TcpFlags};

    use super::*;

    fn segment(now: u64, direction: Direction) -> Segment {
        Segment {
            now: Timestamp(now),
            direction,
            sequence: 1,
            length: 10,
            flags: TcpFlags::default(),
            acknowledged: Known::NOTHING,
            head: Head::Other,
            received: Known::NOTHING,
            silent: false,
        }
    }

    #[test]
    fn an_unfinished_exchange_is_pending_until_it_is_answered() {
        let mut connection = Connection::default();
        connection.open(Role::Client);
        connection.established(1, 1);
        assert!(record(&connection, Timestamp(50)).is_none());
        connection.observe(&segment(100, Direction::Egress));
        let waiting = record(&connection, Timestamp(150)).unwrap();
        assert_eq!(
            (waiting.completed.outcome, waiting.completed.latency),
            (Outcome::Pending, Nanoseconds(50))
        );
        connection.observe(&segment(200, Direction::Ingress));
        let answered = record(&connection, Timestamp(900)).unwrap();
        assert_eq!((answered.completed.outcome, answered.completed.latency), (Outcome::Ok, Nanoseconds(100)));
    }
}
