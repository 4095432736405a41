//! Connections whose exchanges are interleaved: HTTP/2 and gRPC, stream by stream.

use observer_common::{ConnectionRecord, Direction, FrameRecord, Outcome, Parties, Reason, Role, Timestamp};

use crate::{
    http2::{Ended, Event, Frame, LeftOut, Streams},
    maps::IndexMap,
};

/// How many such connections are followed; beyond them the oldest is given up.
const MOST_CONNECTIONS: usize = 16_384;

/// One connection.
#[derive(Debug)]
struct Connection {
    parties: Parties,
    role: Role,
    streams: Streams,
}

/// Everything that is multiplexed.
#[derive(Debug, Default)]
pub(super) struct Multiplexed {
    connections: IndexMap<u64, Connection>,
}

/// What became of a stream, and on whose connection.
pub(super) type Sink<'a> = dyn FnMut(Role, &Parties, Event<'_>) + 'a;

impl Multiplexed {
    /// A connection begins.
    pub(super) fn open(&mut self, record: &ConnectionRecord, sink: &mut Sink<'_>) {
        let key = record.parties.connection;
        if self.connections.len() >= MOST_CONNECTIONS
            && let Some((_, mut oldest)) = self.connections.swap_remove_index(0)
        {
            let (role, parties) = (oldest.role, oldest.parties);
            for direction in Direction::ALL {
                oldest.streams.gap(direction, &mut |event| sink(role, &parties, event));
            }
        }
        self.connections.insert(
            key,
            Connection {
                parties: record.parties,
                role: record.role,
                streams: Streams::new(record.role, record.whole == 1),
            },
        );
    }

    /// A frame passes. False where its connection is not known: its beginning was lost.
    pub(super) fn frame(&mut self, record: &FrameRecord, data: &[u8], sink: &mut Sink<'_>) -> bool {
        let Some(connection) = self.connections.get_mut(&record.connection) else { return false };
        let (role, parties) = (connection.role, connection.parties);
        connection.streams.observe(&Frame::of(record, data), &mut |event| sink(role, &parties, event));
        true
    }

    /// A connection ends, and what is open on it.
    pub(super) fn close(&mut self, connection: u64, now: Timestamp, outcome: Outcome, sink: &mut Sink<'_>) {
        if let Some(mut connection) = self.connections.swap_remove(&connection) {
            let (role, parties) = (connection.role, connection.parties);
            connection.streams.close(now, outcome, &mut |event| sink(role, &parties, event));
        }
    }

    /// What has not come to its end.
    pub(super) fn unfinished(&self, now: Timestamp, mut each: impl FnMut(Role, &Parties, Ended<'_>)) {
        for connection in self.connections.values() {
            for ended in connection.streams.open(now) {
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
