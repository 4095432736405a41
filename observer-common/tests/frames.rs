//! Following the frames of HTTP/2: whatever becomes of the segments, the same frames pass, and nothing is made up.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use observer_common::{
    BLOCK_PIECE, Connection, Direction, FRAME_HEADER, FrameRecord, Role, SHORT_PIECE, Timestamp, Walker,
};
use proptest::{collection::vec, prelude::*};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;

const fn is_block(kind: u8) -> bool {
    matches!(kind, HEADERS | PUSH_PROMISE | CONTINUATION)
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}

/// A frame's header.
fn header(length: u32, kind: u8, flags: u8, stream: u32) -> [u8; FRAME_HEADER] {
    let [_, l0, l1, l2] = length.to_be_bytes();
    let [s0, s1, s2, s3] = stream.to_be_bytes();
    [l0, l1, l2, kind, flags, s0, s1, s2, s3]
}

/// A frame, with a payload that tells its bytes from each other.
fn frame(kind: u8, flags: u8, stream: u32, payload: u32) -> Vec<u8> {
    let mut bytes = header(payload, kind, flags, stream).to_vec();
    bytes.extend((0..payload).map(|at| u8::try_from((at * 7 + u32::from(kind)) % 251).unwrap()));
    bytes
}

/// A frame as it passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Told {
    kind: u8,
    flags: u8,
    stream: u32,
    length: u32,
    /// Payload bytes that passed.
    passed: u32,
    /// What was kept of a header block.
    block: Vec<u8>,
    complete: bool,
}

/// Frames and nothing else, as they should pass.
fn whole(mut bytes: &[u8]) -> Vec<Told> {
    let mut frames = Vec::new();
    while let Some((header, rest)) = bytes.split_first_chunk::<FRAME_HEADER>() {
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = *header;
        let length = u32::from_be_bytes([0, l0, l1, l2]);
        let (payload, rest) = rest.split_at(length as usize);
        frames.push(Told {
            kind,
            flags,
            stream: u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff,
            length,
            passed: length,
            block: if is_block(kind) { payload.to_vec() } else { Vec::new() },
            complete: true,
        });
        bytes = rest;
    }
    frames
}

/// One direction of a connection, followed as the probes do it.
#[derive(Debug)]
struct Follow {
    connection: Connection,
    now: u64,
    told: Vec<Told>,
    records: Vec<(FrameRecord, Vec<u8>)>,
}

const DIRECTION: Direction = Direction::Egress;

impl Follow {
    /// From the first frame on.
    fn from(sequence: u32) -> Self {
        let mut follow = Self::in_the_middle();
        follow.connection.walker(DIRECTION).begin(sequence, 0);
        follow
    }

    /// A connection that is older than the observation.
    fn in_the_middle() -> Self {
        let mut connection = Connection::default();
        connection.open_in_the_middle(Role::Client);
        connection.continue_http2();
        Self { connection, now: 1, told: Vec::new(), records: Vec::new() }
    }

    fn walker(&mut self) -> &mut Walker {
        self.connection.walker(DIRECTION)
    }

    /// A segment passes: whether there was anything to walk over.
    fn segment(&mut self, sequence: u32, payload: &[u8]) -> bool {
        self.now += 1;
        let now = Timestamp(self.now);
        if !self.connection.admit_frames(DIRECTION, now, sequence, &payload, length(payload)) {
            return false;
        }
        // Each step passes a byte at least.
        for _ in 0..=payload.len() {
            let (passed, record) = self.connection.frame_step(DIRECTION, &payload);
            if !passed.more {
                return true;
            }
            assert!(passed.at as usize + passed.bytes as usize <= payload.len(), "{passed:?}");
            if passed.piece {
                self.piece(passed.first, passed.bytes, passed.complete);
            }
            if let Some(record) = record {
                assert_eq!(record.now, now);
                let kept = &payload[passed.at as usize..passed.at as usize + usize::from(record.kept)];
                if is_block(record.frame) {
                    self.told.last_mut().unwrap().block.extend(kept);
                }
                self.records.push((record, kept.to_vec()));
            }
        }
        unreachable!("more steps than bytes");
    }

    fn piece(&mut self, first: bool, bytes: u32, complete: bool) {
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = self.walker().header();
        if first {
            self.told.push(Told {
                kind,
                flags,
                stream: u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff,
                length: u32::from_be_bytes([0, l0, l1, l2]),
                ..Told::default()
            });
        }
        let Some(told) = self.told.last_mut() else { unreachable!("a piece of a frame that never began") };
        told.passed += bytes;
        told.complete = complete;
    }

    /// What every record keeps to; whether their numbers follow each other.
    fn check_records(&self) -> bool {
        for (record, kept) in &self.records {
            assert_eq!(kept.len(), usize::from(record.kept));
            let most = if is_block(record.frame) { BLOCK_PIECE } else { SHORT_PIECE };
            assert!(kept.len() <= most, "{record:?}");
            assert!(record.offset + u32::from(record.kept) <= record.length, "{record:?}");
            assert_eq!(record.direction, DIRECTION.number());
        }
        self.records.iter().zip(1_u32..).all(|((record, _), number)| record.number == number)
    }

    fn numbers(&self) -> Vec<u32> {
        self.records.iter().map(|(record, _)| record.number).collect()
    }
}

/// Frames of every kind, also of kinds that nobody knows.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![4 => 0_u8..10, 1 => any::<u8>()];
    let payload = prop_oneof![3 => 0_u32..40, 2 => 500_u32..540, 1 => 0_u32..2_000];
    vec((kind, any::<u8>(), 0_u32..64, payload), 1..16)
        .prop_map(|frames| frames.into_iter().flat_map(|(k, f, s, p)| frame(k, f, s, p)).collect())
}

/// Where a stream begins: anywhere, and also where its numbers wrap.
fn starts() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), (u32::MAX - 300)..=u32::MAX, Just(0), Just(1 << 31)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// Cut anywhere, and sent again in part between the pieces, also together with what is new.
    #[test]
    fn segments_do_not_matter(
        bytes in frames(),
        start in starts(),
        choices in vec((any::<u32>(), any::<u32>(), 0_u32..6), 0..60),
    ) {
        let mut follow = Follow::from(start);
        let mut next = 0_u32;
        let end = length(&bytes);
        for (one, other, what) in choices {
            let from = match what {
                0 => one % (next + 1),                // again, from anywhere on
                1 => next - (one % 10).min(next),     // again, from a little before
                _ => next,
            };
            let longest = if what < 4 { end - from } else { (end - from).min(12) };
            let to = from + other % (longest + 1);
            let payload = &bytes[from as usize..to as usize];
            let fresh = follow.segment(start.wrapping_add(from), payload);
            prop_assert!(fresh || to <= next, "{from}..{to} after {next} was left out");
            next = next.max(to);
        }
        follow.segment(start.wrapping_add(next), &bytes[next as usize..]);
        prop_assert_eq!(&follow.told, &whole(&bytes));
        prop_assert!(follow.check_records(), "numbers jump: {:?}", follow.numbers());
        prop_assert!(!follow.walker().is_lost());
    }

    /// What the host gets to see of header blocks is what was sent, piece by piece in order; of all else it gets the
    /// beginning, and of streams the end.
    #[test]
    fn records_tell_what_they_must(bytes in frames(), cuts in vec(any::<u32>(), 0..12)) {
        let mut follow = Follow::from(7);
        let mut cuts: Vec<u32> = cuts.iter().map(|cut| cut % length(&bytes)).chain([0, length(&bytes)]).collect();
        cuts.sort_unstable();
        for cut in cuts.windows(2) {
            follow.segment(7 + cut[0], &bytes[cut[0] as usize..cut[1] as usize]);
        }
        prop_assert!(follow.check_records());
        let frames = whole(&bytes);
        let ends = follow.records.iter().filter(|(record, _)| {
            record.complete == 1 && record.frame == DATA && record.flags & END_STREAM != 0
        });
        let closing = frames.iter().filter(|frame| frame.kind == DATA && frame.flags & END_STREAM != 0);
        prop_assert_eq!(ends.count(), closing.count());
        for kind in [RST_STREAM, GOAWAY] {
            let complete = follow.records.iter().filter(|(record, _)| record.frame == kind && record.complete == 1);
            prop_assert_eq!(complete.count(), frames.iter().filter(|frame| frame.kind == kind).count());
        }
        prop_assert!(follow.records.iter().all(|(record, _)| !matches!(record.frame, SETTINGS | PING)));
    }

    /// Arbitrary bytes at arbitrary places: no panic, no endless loop, nothing outside of the segment.
    #[test]
    fn arbitrary_bytes_are_walked_over(
        segments in vec((any::<u32>(), 0_u32..3, vec(any::<u8>(), 0..200)), 0..40),
        start in starts(),
        in_the_middle in any::<bool>(),
    ) {
        let mut follow = if in_the_middle { Follow::in_the_middle() } else { Follow::from(start) };
        let mut next = start;
        for (sequence, how, payload) in segments {
            let at = match how {
                0 => sequence,
                1 => next.wrapping_sub(sequence % 20),
                _ => next,
            };
            // A frame whose beginning was passed over has no place to be noted: only the walk itself is looked at.
            let (bytes, end) = (payload.as_slice(), length(&payload));
            if follow.connection.admit_frames(DIRECTION, Timestamp(1), at, &bytes, end) {
                let mut steps = 0_u32;
                let mut passed_before = 0;
                loop {
                    let (passed, record) = follow.connection.frame_step(DIRECTION, &bytes);
                    if !passed.more {
                        break;
                    }
                    steps += 1;
                    prop_assert!(steps <= end, "more steps than bytes");
                    prop_assert!(!passed.piece || passed.at >= passed_before);
                    prop_assert!(passed.at + passed.bytes <= end);
                    passed_before = passed.at;
                    if let Some(record) = record {
                        prop_assert!(u32::from(record.kept) <= passed.bytes);
                    }
                }
            }
            next = at.wrapping_add(end);
        }
    }

    /// A connection that is older than the observation is followed from the first certain frame on, wherever its
    /// sequence numbers stand.
    #[test]
    fn older_connections_are_found(start in starts(), streams in 1_u32..50) {
        let mut follow = Follow::in_the_middle();
        let bytes = [frame(HEADERS, 4, 2 * streams + 1, 30), frame(DATA, 1, 2 * streams + 1, 12)].concat();
        prop_assert!(follow.segment(start, &bytes), "the first frame was not found");
        prop_assert_eq!(&follow.told, &whole(&bytes));
        // Whoever counts sees that something came before.
        prop_assert_eq!(follow.numbers(), vec![2, 3]);
    }
}

#[test]
fn the_preface_is_skipped_in_any_pieces() {
    let bytes = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(SETTINGS, 0, 0, 18)].concat();
    for cut in 1..bytes.len() {
        let mut follow = Follow::in_the_middle();
        follow.walker().begin(5, 24);
        follow.segment(5, &bytes[..cut]);
        follow.segment(5 + u32::try_from(cut).unwrap(), &bytes[cut..]);
        assert_eq!(follow.told, whole(&bytes[24..]), "cut at {cut}");
    }
}

/// Of a long header block no byte is missing, and none comes in a piece that is too long.
#[test]
fn long_blocks_come_in_pieces() {
    for payload in [511, 512, 513, 1_023, 1_024, 1_025, 10_000] {
        let bytes = [frame(HEADERS, 0, 1, payload), frame(CONTINUATION, 4, 1, payload)].concat();
        let mut follow = Follow::from(0);
        follow.segment(0, &bytes);
        assert_eq!(follow.told, whole(&bytes));
        assert!(follow.check_records());
        let pieces = 2 * payload.div_ceil(512) as usize;
        assert_eq!(follow.records.len(), pieces);
        let offsets: Vec<u32> = follow.records.iter().map(|(record, _)| record.offset).collect();
        assert!(offsets[..pieces / 2].iter().zip(0..).all(|(offset, piece)| *offset == piece * 512));
    }
}

/// Segments of one DATA frame that are lost leave the position known: its length says where the next frame begins.
#[test]
fn a_gap_within_content_keeps_the_position() {
    let data = frame(DATA, 0, 1, 1_000);
    let bytes = [data, frame(HEADERS, 5, 3, 20)].concat();
    // What is lost lies within the payload, which begins at 9 and ends at 1009.
    for (lost_from, lost_to) in [(9, 10), (100, 900), (9, 1_008), (1_007, 1_008)] {
        let mut follow = Follow::from(50);
        assert!(follow.segment(50, &bytes[..lost_from]));
        assert!(follow.segment(50 + u32::try_from(lost_to).unwrap(), &bytes[lost_to..]));
        assert!(!follow.walker().is_lost(), "{lost_from}..{lost_to}");
        let last = follow.told.last().unwrap();
        assert_eq!((last.kind, last.stream, last.complete), (HEADERS, 3, true));
        assert_eq!(follow.numbers(), [1, 2]);
        // What was lost comes after all, too late to tell anything.
        assert!(!follow.segment(50 + u32::try_from(lost_from).unwrap(), &bytes[lost_from..lost_to]));
        assert_eq!(follow.numbers(), [1, 2]);
    }
}

/// A gap within a header block keeps the position, too; that bytes are missing is seen by the offset.
#[test]
fn a_gap_within_a_block_shows() {
    let bytes = [frame(HEADERS, 4, 1, 100), frame(HEADERS, 5, 3, 20)].concat();
    let mut follow = Follow::from(0);
    follow.segment(0, &bytes[..40]);
    follow.segment(60, &bytes[60..]);
    let told: Vec<_> = follow.records.iter().map(|(record, _)| (record.offset, record.kept)).collect();
    assert_eq!(told, [(0, 31), (51, 49), (0, 20)]);
}

/// A gap that takes a header along, or the beginning of one, loses the position until a segment begins with a certain
/// frame; then the numbers jump.
#[test]
fn any_other_gap_loses_the_position() {
    let first = frame(HEADERS, 5, 1, 50);
    let second = frame(HEADERS, 5, 3, 50);
    let third = frame(HEADERS, 5, 5, 50);
    let bytes = [first, second, third].concat();
    // What comes before the gap, where it ends, and whether a frame begins there.
    for (before, after, certain) in
        [(59, 60, false), (59, 118, true), (62, 118, true), (40, 61, false), (59, 70, false), (60, 90, false)]
    {
        let mut follow = Follow::from(0);
        follow.segment(0, &bytes[..before]);
        let told = follow.records.len();
        let found = follow.segment(u32::try_from(after).unwrap(), &bytes[after..]);
        assert_eq!(found, certain, "{before}..{after}");
        assert_eq!(follow.walker().is_lost(), !certain, "{before}..{after}");
        if !certain {
            assert_eq!(follow.records.len(), told, "told something uncertain");
        }
        let more = frame(HEADERS, 5, 7, 10);
        assert!(follow.segment(177, &more), "a certain frame");
        assert!(!follow.walker().is_lost());
        assert!(!follow.check_records(), "nobody can see the gap: {:?}", follow.numbers());
        assert_eq!(follow.told.last(), whole(&more).last());
    }
}

/// After a gap a segment may begin with bytes that were seen before. A certain frame at its beginning says nothing
/// about the place where the new bytes begin.
#[test]
fn an_overlap_after_a_gap_is_no_certain_frame() {
    let old = frame(HEADERS, 5, 1, 50);
    let mut follow = Follow::from(1_000);
    assert!(!follow.segment(2_000, &[0xff; 40]), "garbage behind a gap");
    assert!(follow.walker().is_lost());
    // The last ten bytes of it are new.
    follow.segment(2_040 - 49, &old);
    let made_up: Vec<_> = follow.told.iter().filter(|told| told.length != 50).collect();
    assert!(made_up.is_empty(), "{made_up:?}");
    assert!(follow.segment(2_050, &old), "a certain frame");
    assert_eq!(follow.told, whole(&old));
}

/// A header that can be no header of HTTP/2 is no certain frame, and neither is one behind which no other stands.
#[test]
fn implausible_frames_are_not_found() {
    let good = frame(DATA, 0, 1, 20);
    let implausible: [Vec<u8>; 10] = [
        frame(DATA, 0, 0, 20),      // no stream
        frame(HEADERS, 4, 2, 20),   // the server's stream
        frame(RST_STREAM, 0, 1, 5), // too long
        frame(SETTINGS, 0, 1, 6),   // on a stream
        frame(SETTINGS, 0, 0, 7),   // no multiple of 6
        frame(PING, 0, 0, 7),
        frame(GOAWAY, 0, 0, 7),
        frame(10, 0, 1, 20),                                                // unknown
        [header((1 << 20) + 1, DATA, 0, 1).to_vec(), vec![0; 50]].concat(), // too long
        [good.clone(), vec![0xff; 9]].concat(),                             // not followed by a frame
    ];
    for bytes in implausible {
        let mut follow = Follow::in_the_middle();
        assert!(!follow.segment(9, &bytes), "found in {bytes:?}");
        assert!(follow.records.is_empty());
        assert!(follow.segment(9 + length(&bytes), &good));
    }
    // Cut off in the middle of the header behind it.
    let mut follow = Follow::in_the_middle();
    assert!(!follow.segment(9, &[good.clone(), good[..8].to_vec()].concat()));
    // Longer than its segment.
    assert!(!follow.segment(9 + 29 + 8, &good[..20]));
}

/// Whatever a header says, it is walked over: all kinds, as long as a header can say.
#[test]
fn the_longest_frames_of_every_kind() {
    const LONGEST: u32 = (1 << 24) - 1;
    let segment = vec![0xa5; 65_536];
    for kind in 0..=u8::MAX {
        let mut follow = Follow::from(0);
        follow.segment(0, &header(LONGEST, kind, 0xff, u32::MAX));
        // As many bytes of it as a few segments hold, then a gap over all the rest but the last byte.
        for number in 0..3 {
            follow.segment(9 + number * 65_536, &segment);
        }
        let last = 9 + LONGEST - 1;
        assert!(follow.segment(last, &[0xa5]));
        assert!(!follow.walker().is_lost(), "kind {kind}");
        let next = frame(PING, 0, 0, 8);
        assert!(follow.segment(last + 1, &next));
        assert_eq!(follow.told.last(), whole(&next).last(), "kind {kind}");
        // A piece of 512 bytes each, where it is a block; else no more than beginning and end.
        let most = if is_block(kind) { 3 * 128 + 2 } else { 6 };
        assert!(follow.records.len() <= most, "{} records of kind {kind}", follow.records.len());
    }
}

/// Frames without payload take a step each, and no more.
#[test]
fn empty_frames_make_progress() {
    let bytes = frame(DATA, 0, 1, 0).repeat(7_000);
    let mut follow = Follow::from(u32::MAX - 1_000);
    assert!(follow.segment(u32::MAX - 1_000, &bytes));
    assert_eq!((follow.told.len(), follow.records.len()), (7_000, 7_000));
}

/// Bytes that were not captured lose the position.
#[test]
fn what_cannot_be_read_loses_the_position() {
    let bytes = [frame(HEADERS, 5, 1, 5), frame(HEADERS, 5, 3, 50)].concat();
    for kept in 0..bytes.len() {
        let mut follow = Follow::from(0);
        let captured = &bytes[..kept];
        assert!(follow.connection.admit_frames(DIRECTION, Timestamp(1), 0, &captured, length(&bytes)));
        for _ in 0..=bytes.len() {
            let (passed, _) = follow.connection.frame_step(DIRECTION, &captured);
            if !passed.more {
                break;
            }
        }
        // Both headers are read, or not; what lies between them is not asked for.
        assert_eq!(follow.walker().is_lost(), kept < 14 + 9, "{kept} bytes were captured");
    }
}

/// One processor walks at a time.
#[test]
fn a_walker_belongs_to_one_at_a_time() {
    let mut walker = Walker::default();
    assert!(!walker.is_claimed());
    assert!(walker.claim(), "nobody has it");
    assert!(walker.is_claimed());
    assert!(!walker.claim(), "somebody has it");
    walker.release();
    assert!(!walker.is_claimed());
    assert!(walker.claim(), "it was given back");
}

/// Nothing that is done with a claimed walker gives it back.
#[test]
fn a_claim_lasts_until_it_is_released() {
    let bytes = [frame(DATA, 0, 1, 8), frame(HEADERS, 5, 3, 20)].concat();
    let mut never_begun = Walker::default();
    assert!(never_begun.claim());
    never_begun.admit(Timestamp(1), 77, 10, true);
    assert!(never_begun.is_claimed() && never_begun.is_lost());

    let mut follow = Follow::from(0);
    assert!(follow.walker().claim());
    follow.segment(0, &bytes[..20]);
    follow.segment(20, &bytes[20..]);
    follow.walker().lose();
    follow.segment(length(&bytes), &bytes); // found again
    follow.segment(500, &[0; 20]); // lost again
    assert!(follow.walker().is_claimed());
    follow.walker().release();
    assert!(!follow.walker().is_claimed() && follow.walker().is_lost());
}

/// Sockets carry two of them in kernel memory.
#[test]
fn walkers_are_small() {
    const fn is_copy<T: Copy>() {}
    is_copy::<Walker>();
    assert!(size_of::<Walker>() <= 48, "{} bytes", size_of::<Walker>());
}
