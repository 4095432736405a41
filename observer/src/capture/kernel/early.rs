//! What the probes tell while they are still being tried: connections that are open then are observed afterwards.

use std::collections::VecDeque;

use observer_common::{ConnectionRecord, PayloadRecord};

use crate::{maps::Recent, pairing::Record};

/// Connections kept, as many as are followed later; beyond them the one that was silent the longest is given up.
const MOST_CONNECTIONS: usize = 16_384;
/// First messages of TLS clients, and answers of name servers, kept of each: two kilobytes apiece.
const MOST_PAYLOADS: usize = 2_048;

/// Records about connections, kept until somebody takes them. Exchanges of that time are nobody's concern.
#[derive(Debug, Default)]
pub(super) struct Early {
    opened: Recent<u64, ConnectionRecord, MOST_CONNECTIONS>,
    hellos: VecDeque<PayloadRecord>,
    names: VecDeque<PayloadRecord>,
}

impl Early {
    /// Keeps of a record what is needed later.
    pub(super) fn keep(&mut self, record: &Record<'_>) {
        match record {
            Record::Opened(record) => {
                self.opened.insert(record.parties.connection, **record);
            }
            Record::Closed(record) => {
                self.opened.remove(&record.parties.connection);
            }
            // It passes unseen: whoever follows the connection later has not seen all of it.
            Record::Frame(record, _) => {
                if let Some(opened) = self.opened.get(&record.connection) {
                    opened.whole = 0;
                }
            }
            Record::Hello(record) => keep(&mut self.hellos, record),
            Record::Names(record) => keep(&mut self.names, record),
            Record::Exchange(_) => {}
        }
    }

    /// Tells it all again, what names addresses first.
    pub(super) fn replay(&self, mut each: impl FnMut(&Record<'_>)) {
        self.names.iter().for_each(|record| each(&Record::Names(record)));
        self.hellos.iter().for_each(|record| each(&Record::Hello(record)));
        self.opened.values().for_each(|record| each(&Record::Opened(record)));
    }
}

fn keep(payloads: &mut VecDeque<PayloadRecord>, record: &PayloadRecord) {
    if payloads.len() >= MOST_PAYLOADS {
        payloads.pop_front();
    }
    payloads.push_back(*record);
}

#[cfg(test)]
mod tests {
    use observer_common::{
        Direction, FrameRecord, Outcome, PAYLOAD_LENGTH, Parties, Place, RecordKind, Role, Timestamp,
    };

    use super::*;

    fn connection(number: u64) -> ConnectionRecord {
        ConnectionRecord {
            kind: RecordKind::Opened,
            srtt_eighths: 0,
            now: Timestamp(0),
            parties: Parties { connection: number, ..Parties::default() },
            role: Role::Client,
            outcome: Outcome::Ok,
            whole: 1,
            reserved: [0; 5],
        }
    }

    fn frame(number: u64) -> FrameRecord {
        FrameRecord {
            kind: RecordKind::Frame,
            number: 1,
            connection: number,
            now: Timestamp(0),
            length: 0,
            stream: 1,
            offset: 0,
            kept: 0,
            frame: 0,
            flags: 0,
            direction: Direction::Egress as u8,
            complete: 1,
            place: Place::InOrder,
            reserved: [0; 5],
        }
    }

    fn payload(number: u64) -> PayloadRecord {
        PayloadRecord {
            kind: RecordKind::Hello,
            kept: 0,
            truncated: 0,
            stream: 1,
            connection: number,
            data: [0; PAYLOAD_LENGTH],
        }
    }

    /// Kind, connection, and whether it was observed from its first byte on, as they are told again.
    fn told(early: &Early) -> Vec<(&'static str, u64, u8)> {
        let mut told = Vec::new();
        early.replay(|record| {
            told.push(match record {
                Record::Names(record) => ("names", record.connection, 0),
                Record::Hello(record) => ("hello", record.connection, 0),
                Record::Opened(record) => ("opened", record.parties.connection, record.whole),
                _ => ("another", 0, 0),
            });
        });
        told
    }

    #[test]
    fn what_is_open_is_told_again() {
        let mut early = Early::default();
        for number in 1..=3 {
            early.keep(&Record::Opened(&connection(number)));
        }
        early.keep(&Record::Frame(&frame(3), &[]));
        early.keep(&Record::Closed(&connection(1)));
        early.keep(&Record::Hello(&payload(4)));
        early.keep(&Record::Names(&payload(5)));
        let mut told = told(&early);
        told.sort_unstable();
        assert_eq!(told, [("hello", 4, 0), ("names", 5, 0), ("opened", 2, 1), ("opened", 3, 0)]);
    }

    #[test]
    fn no_traffic_takes_more_than_its_bound() {
        let mut early = Early::default();
        for number in 0..20_000 {
            early.keep(&Record::Opened(&connection(number)));
            early.keep(&Record::Hello(&payload(number)));
        }
        assert_eq!(told(&early).len(), MOST_CONNECTIONS + MOST_PAYLOADS);
        let told = told(&early);
        assert!((20_000 - 16_384..20_000).all(|number| told.contains(&("opened", number, 1))));
    }
}
