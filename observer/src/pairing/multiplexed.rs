//! Connections whose exchanges are interleaved: HTTP/2 and gRPC, stream by stream.

use observer_common::{ConnectionRecord, Direction, FrameRecord, Outcome, Parties, Reason, Role, Timestamp};

use crate::{
    http2::{Ended, Event, Frame, LeftOut, Streams},
    maps::Recent,
};

/// How many such connections are followed; beyond them the one that was silent the longest is given up.
const MOST_CONNECTIONS: usize = 16_384;

/// One connection.
#[derive(Debug)]
struct Connection {
    parties: Parties,
    role: Role,
    streams: Streams,
    /// When a frame of the responding side passed last.
    responded: Timestamp,
}

/// Everything that is multiplexed.
#[derive(Debug, Default)]
pub(super) struct Multiplexed {
    connections: Recent<u64, Connection, MOST_CONNECTIONS>,
    /// Until when records were lost, of whichever connection. A response whose frames are not seen until then may
    /// have been among them.
    lost: Option<Timestamp>,
}

/// What became of a stream, and on whose connection.
pub(super) type Sink<'a> = dyn FnMut(Role, &Parties, Event<'_>) + 'a;

impl Multiplexed {
    /// Records were lost, `now` at the latest.
    pub(super) fn lose(&mut self, now: Timestamp) {
        self.lost = Some(now);
    }

    /// Whether a connection is followed.
    pub(super) fn follows(&self, connection: u64) -> bool {
        self.connections.peek(&connection).is_some()
    }

    /// A connection begins.
    pub(super) fn open(&mut self, record: &ConnectionRecord, sink: &mut Sink<'_>) {
        let connection = Connection {
            parties: record.parties,
            role: record.role,
            streams: Streams::new(record.role, record.whole == 1),
            responded: Timestamp(0),
        };
        if let Some((_, mut given_up)) = self.connections.insert(record.parties.connection, connection) {
            let (role, parties) = (given_up.role, given_up.parties);
            for direction in Direction::ALL {
                given_up.streams.gap(direction, &mut |event| sink(role, &parties, event));
            }
        }
    }

    /// A frame passes. False where its connection is not known: its beginning was lost.
    pub(super) fn frame(&mut self, record: &FrameRecord, data: &[u8], sink: &mut Sink<'_>) -> bool {
        let Some(connection) = self.connections.get(&record.connection) else { return false };
        let (role, parties) = (connection.role, connection.parties);
        let frame = Frame::of(record, data);
        if !connection.streams.is_request(frame.direction) {
            connection.responded = record.now;
        }
        connection.streams.observe(&frame, &mut |event| sink(role, &parties, event));
        true
    }

    /// A connection ends, and what is open on it. Where its last frames may have been lost, nobody knows how.
    pub(super) fn close(&mut self, connection: u64, now: Timestamp, outcome: Outcome, sink: &mut Sink<'_>) {
        if let Some(mut connection) = self.connections.remove(&connection) {
            let (role, parties) = (connection.role, connection.parties);
            if self.lost >= Some(connection.responded) {
                connection.streams.gap(Direction::Ingress, &mut |event| sink(role, &parties, event));
            }
            connection.streams.close(now, outcome, &mut |event| sink(role, &parties, event));
        }
    }

    /// What has not come to its end. Where a response may have been lost, it is not certain that its request waits,
    /// nor that it has come no further.
    pub(super) fn unfinished(&self, now: Timestamp, mut each: impl FnMut(Role, &Parties, Ended<'_>)) {
        for connection in self.connections.values() {
            for mut ended in connection.streams.open(now) {
                if self.lost >= Some(connection.responded.max(ended.start)) {
                    if ended.outcome == Outcome::Pending {
                        continue;
                    }
                    ended.complete = None;
                }
                each(connection.role, &connection.parties, ended);
            }
        }
    }
}

/// The reason under which a stream is counted.
pub(super) const fn reason(left_out: LeftOut) -> Reason {
    match left_out {
        LeftOut::Push => Reason::Push,
        LeftOut::Streaming => Reason::Streaming,
        LeftOut::StartedBefore => Reason::StartedBefore,
        LeftOut::Uncertain | LeftOut::TooMany => Reason::Overlapping,
        LeftOut::NegativeDuration => Reason::NegativeDuration,
    }
}

#[cfg(test)]
mod tests {
    use observer_common::{Place, RecordKind};

    use super::*;

    const CONNECTION: u64 = 7;

    fn connection(now: u64) -> ConnectionRecord {
        ConnectionRecord {
            kind: RecordKind::Opened,
            srtt_eighths: 0,
            now: Timestamp(now),
            parties: Parties { connection: CONNECTION, ..Parties::default() },
            role: Role::Client,
            outcome: Outcome::Reset,
            whole: 1,
            reserved: [0; 5],
        }
    }

    /// A header block without fields, which ends its stream in this direction.
    fn headers(direction: Direction, number: u32, stream: u32, now: u64) -> FrameRecord {
        FrameRecord {
            kind: RecordKind::Frame,
            number,
            connection: CONNECTION,
            now: Timestamp(now),
            length: 0,
            stream,
            offset: 0,
            kept: 0,
            frame: 1,
            flags: 5,
            direction: direction as u8,
            complete: 1,
            place: Place::InOrder,
            reserved: [0; 5],
        }
    }

    /// A connection with a request at 10 that waits.
    fn waiting() -> Multiplexed {
        let mut multiplexed = Multiplexed::default();
        multiplexed.open(&connection(0), &mut |_, _, _| {});
        multiplexed.frame(&headers(Direction::Egress, 1, 1, 10), &[], &mut |_, _, _| {});
        multiplexed
    }

    /// When the requests began that wait.
    fn pending(multiplexed: &Multiplexed) -> Vec<u64> {
        let mut starts = Vec::new();
        multiplexed.unfinished(Timestamp(100), |_, _, ended| {
            assert_eq!(ended.outcome, Outcome::Pending);
            starts.push(ended.start.0);
        });
        starts
    }

    fn ends(multiplexed: &mut Multiplexed) -> Vec<&'static str> {
        let mut ends = Vec::new();
        multiplexed.close(CONNECTION, Timestamp(100), Outcome::Reset, &mut |_, _, event| {
            ends.push(match event {
                Event::Ended(ended) => ended.outcome.name(),
                Event::LeftOut { reason, .. } => super::reason(reason).name(),
            });
        });
        ends
    }

    #[test]
    fn a_request_waits_as_long_as_nothing_was_lost() {
        let mut multiplexed = waiting();
        assert_eq!(pending(&multiplexed), [10]);
        assert_eq!(ends(&mut multiplexed), ["reset"]);
    }

    #[test]
    fn a_request_whose_response_may_be_lost_is_not_said_to_wait() {
        let mut multiplexed = waiting();
        multiplexed.lose(Timestamp(20));
        assert!(pending(&multiplexed).is_empty());
        assert_eq!(ends(&mut multiplexed), ["overlapping"]);
    }

    #[test]
    fn a_request_behind_a_loss_waits() {
        let mut multiplexed = waiting();
        multiplexed.lose(Timestamp(20));
        multiplexed.frame(&headers(Direction::Egress, 2, 3, 30), &[], &mut |_, _, _| {});
        assert_eq!(pending(&multiplexed), [30]);
    }

    #[test]
    fn a_later_frame_without_a_gap_shows_that_nothing_of_its_connection_was_lost() {
        let mut multiplexed = waiting();
        multiplexed.frame(&headers(Direction::Egress, 2, 3, 15), &[], &mut |_, _, _| {});
        multiplexed.lose(Timestamp(20));
        multiplexed.frame(&headers(Direction::Ingress, 1, 3, 30), &[], &mut |_, _, _| {});
        assert_eq!(pending(&multiplexed), [10]);
    }
}
