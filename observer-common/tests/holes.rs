//! A segment that arrives after the one behind it: the walker goes on, and comes back once.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use observer_common::{Connection, Direction, FrameRecord, Place, Role, Timestamp};

const HEADERS: u8 = 1;
const DIRECTION: Direction = Direction::Ingress;

/// A header block of fifty bytes: 59 with its frame's header.
fn frame(stream: u32) -> Vec<u8> {
    let [s0, s1, s2, s3] = stream.to_be_bytes();
    let mut bytes = vec![0, 0, 50, HEADERS, 5, s0, s1, s2, s3];
    bytes.resize(FRAME, 0x80);
    bytes
}

const FRAME: usize = 59;

/// Frames of the streams 1, 3, 5, 7 and so on.
fn frames(count: u32) -> Vec<u8> {
    (0..count).flat_map(|number| frame(2 * number + 1)).collect()
}

/// What arrives at an observed socket.
struct Arriving {
    connection: Connection,
    start: u32,
    bytes: Vec<u8>,
    records: Vec<FrameRecord>,
}

impl Arriving {
    /// So many frames will, from this sequence number on.
    fn new(start: u32, count: u32) -> Self {
        let mut connection = Connection::default();
        connection.open(Role::Client);
        connection.continue_http2();
        connection.walker(DIRECTION).begin(start, 0);
        Self { connection, start, bytes: frames(count), records: Vec::new() }
    }

    /// These bytes of them pass.
    fn pass(&mut self, from: usize, to: usize) -> &mut Self {
        let payload = self.bytes[from..to].to_vec();
        self.pass_as(from, &payload)
    }

    /// These bytes pass in the place of others.
    fn pass_as(&mut self, from: usize, payload: &[u8]) -> &mut Self {
        let sequence = self.start.wrapping_add(u32::try_from(from).unwrap());
        let length = u32::try_from(payload.len()).unwrap();
        if self.connection.admit_frames(DIRECTION, Timestamp(1), sequence, &payload, length) {
            loop {
                let (passed, record) = self.connection.frame_step(DIRECTION, &payload);
                self.records.extend(record);
                if !passed.more {
                    break;
                }
            }
            self.records.extend(self.connection.end_frames(DIRECTION));
        }
        self
    }

    /// Stream and place of every record; none for a hole that is filled.
    fn told(&self) -> Vec<(u32, Place)> {
        self.records.iter().map(|record| (record.stream, record.place)).collect()
    }

    /// Whether no number is left out.
    fn is_whole(&self) -> bool {
        self.records.iter().zip(1_u32..).all(|(record, number)| record.number == number)
    }

    fn is_lost(&mut self) -> bool {
        self.connection.walker(DIRECTION).is_lost()
    }
}

use Place::{Behind, Filled, Fills, InOrder};

#[test]
fn a_hole_is_filled() {
    for start in [0, 77, u32::MAX - 3 * 59, u32::MAX - 100] {
        let mut arriving = Arriving::new(start, 5);
        arriving.pass(0, 59).pass(118, 177).pass(177, 236).pass(59, 118).pass(236, 295);
        let told = [(1, InOrder), (5, Behind), (7, Behind), (3, Fills), (0, Filled), (9, InOrder)];
        assert_eq!(arriving.told(), told);
        assert!(arriving.is_whole());
        assert_eq!(arriving.records[4].complete, 1);
    }
}

/// The hole may begin within a frame or its header, and be filled piece by piece while more comes behind it.
#[test]
fn a_hole_is_filled_in_pieces() {
    for begins in 0..59 {
        for cut in begins + 1..118 {
            let mut arriving = Arriving::new(9, 4);
            arriving.pass(0, begins).pass(118, 177).pass(begins, cut).pass(177, 236).pass(cut, 118);
            let streams = |place| {
                let mut streams: Vec<u32> = arriving
                    .records
                    .iter()
                    .filter(|record| record.place == place)
                    .map(|record| record.stream)
                    .collect();
                streams.dedup();
                streams
            };
            assert_eq!(streams(Behind), [5, 7], "{begins}..{cut}");
            assert_eq!(streams(Filled), [0], "{begins}..{cut}");
            assert!(arriving.is_whole(), "{begins}..{cut}");
            let kept: u32 = arriving.records.iter().map(|record| u32::from(record.kept)).sum();
            assert_eq!(kept, 4 * 50, "{begins}..{cut}");
        }
    }
}

/// What fills the hole may come together with what lies around it and was seen before.
#[test]
fn what_fills_may_overlap_what_was_seen() {
    for (from, to) in [(0, 118), (30, 118), (59, 177), (59, 150), (0, 177)] {
        let mut arriving = Arriving::new(0, 4);
        arriving.pass(0, 59).pass(118, 177).pass(from, to).pass(177, 236);
        let told = [(1, InOrder), (5, Behind), (3, Fills), (0, Filled), (7, InOrder)];
        assert_eq!(arriving.told(), told, "{from}..{to}");
        assert!(arriving.is_whole());
    }
}

/// What was seen before changes nothing while there is a hole.
#[test]
fn duplicates_leave_the_hole() {
    let mut arriving = Arriving::new(0, 3);
    arriving.pass(0, 59).pass(118, 177).pass(118, 177).pass(0, 59).pass(20, 59).pass(120, 170).pass(59, 118);
    assert_eq!(arriving.told(), [(1, InOrder), (5, Behind), (3, Fills), (0, Filled)]);
    arriving.pass(59, 118).pass(118, 177);
    assert_eq!(arriving.records.len(), 4);
}

/// Whatever else comes makes a gap of the hole: a number is left out.
#[test]
fn any_other_hole_is_a_gap() {
    // Not from its beginning on.
    let mut arriving = Arriving::new(0, 5);
    arriving.pass(0, 59).pass(177, 236).pass(118, 177).pass(59, 118).pass(236, 295);
    assert_eq!(arriving.told(), [(1, InOrder), (7, Behind), (9, InOrder)]);
    assert!(!arriving.is_whole());
    // A second one.
    let mut arriving = Arriving::new(0, 6);
    arriving.pass(0, 59).pass(118, 177).pass(236, 295).pass(59, 118).pass(177, 236).pass(295, 354);
    assert_eq!(arriving.told(), [(1, InOrder), (5, Behind), (9, InOrder), (11, InOrder)]);
    assert_eq!(arriving.records[2].number, 5);
    // Together with something new.
    let mut arriving = Arriving::new(0, 4);
    arriving.pass(0, 59).pass(118, 177).pass(59, 236);
    assert_eq!(arriving.told(), [(1, InOrder), (5, Behind), (7, InOrder)]);
    assert!(!arriving.is_whole());
    // Lost behind the hole.
    let mut arriving = Arriving::new(0, 6);
    arriving.pass(0, 59).pass(118, 177).pass(240, 295);
    assert!(arriving.is_lost());
    arriving.pass(59, 118).pass(295, 354);
    assert_eq!(arriving.told(), [(1, InOrder), (5, Behind), (11, InOrder)]);
    assert!(!arriving.is_whole());
}

/// What passed while somebody else was walking will not come again.
#[test]
fn what_nobody_walks_over_leaves_no_hole() {
    let mut arriving = Arriving::new(0, 4);
    arriving.pass(0, 59);
    arriving.connection.walker(DIRECTION).miss();
    arriving.pass(118, 177).pass(59, 118).pass(177, 236);
    assert_eq!(arriving.told(), [(1, InOrder), (5, InOrder), (7, InOrder)]);
    assert!(!arriving.is_whole());
    // It may be what would have filled one.
    let mut arriving = Arriving::new(0, 4);
    arriving.pass(0, 59).pass(118, 177);
    arriving.connection.walker(DIRECTION).miss();
    arriving.pass(177, 236);
    assert_eq!(arriving.told(), [(1, InOrder), (5, Behind), (7, InOrder)]);
    assert!(!arriving.is_whole());
}

/// What fills the hole does not end where the walker has gone on: that was no certain place.
#[test]
fn a_hole_that_does_not_fit_is_told() {
    let mut arriving = Arriving::new(0, 4);
    let mut longer = frame(3);
    longer[2] = 60;
    arriving.pass(0, 59).pass(118, 177).pass_as(59, &longer);
    assert_eq!(arriving.told(), [(1, InOrder), (5, Behind), (3, Fills), (0, Filled)]);
    assert_eq!(arriving.records[3].complete, 0);
    assert!(arriving.is_lost());
}

/// What the stack has accepted without having been seen will not come again.
#[test]
fn a_hole_that_was_filled_unseen_is_told() {
    let mut arriving = Arriving::new(7, 4);
    arriving.pass(0, 59).pass(118, 177);
    assert!(arriving.connection.accepted(7 + 59).is_none(), "up to the hole");
    let record = arriving.connection.accepted(7 + 60).unwrap();
    assert_eq!((record.place, record.number), (Place::Missed, 3));
    assert!(arriving.connection.accepted(7 + 177).is_none(), "told twice");
    arriving.pass(59, 118).pass(177, 236);
    assert_eq!(arriving.told(), [(1, InOrder), (5, Behind), (7, InOrder)]);
}

/// What leaves is in order: what is missing there is lost.
#[test]
fn what_leaves_has_no_holes() {
    let mut connection = Connection::default();
    connection.open(Role::Client);
    connection.continue_http2();
    connection.walker(Direction::Egress).begin(0, 0);
    let bytes = frame(3);
    assert!(connection.admit_frames(Direction::Egress, Timestamp(1), 59, &bytes.as_slice(), 59));
    let (_, record) = connection.frame_step(Direction::Egress, &bytes.as_slice());
    let record = record.unwrap();
    assert_eq!((record.place, record.number), (InOrder, 2));
}
