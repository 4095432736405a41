//! TLS from out here: which records carry what an application said, and which turns become exchanges.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use observer_common::{Direction, Outcome, Phase, Protocol, Reason, Role, TlsStage};
use proptest::{collection::vec, prelude::*};

mod probe;

use probe::Probe;

const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;

/// Lengths of records of TLS 1.3.
const FINISHED: u16 = 53;
const FINISHED_SHA384: u16 = 69;
const HIDDEN_ALERT: u16 = 19;
const KEY_UPDATE: u16 = 22;
const TICKET: u16 = 250;

/// Bytes of a record's header.
const HEADER: u64 = 5;

/// A record.
fn record(kind: u8, length: u16) -> Vec<u8> {
    let [high, low] = length.to_be_bytes();
    let mut bytes = vec![kind, 3, 3, high, low];
    bytes.resize(5 + usize::from(length), 0xe7);
    bytes
}

fn records(records: &[(u8, u16)]) -> Vec<u8> {
    records.iter().flat_map(|(kind, length)| record(*kind, *length)).collect()
}

/// A connection of either side, on which the client has said hello.
fn greeted(role: Role) -> Probe {
    let mut probe = Probe::new(role, [1_000, 2_000]);
    probe.ask(&record(HANDSHAKE, 512));
    assert_eq!((probe.connection.protocol, probe.connection.tls), (Protocol::Tls, TlsStage::Hello));
    probe
}

const ROLES: [Role; 2] = [Role::Client, Role::Server];

/// TLS 1.2, all of its handshake.
fn classic(role: Role) -> Probe {
    let mut probe = greeted(role);
    let flight = records(&[(HANDSHAKE, 80), (HANDSHAKE, 4_000), (HANDSHAKE, 300), (HANDSHAKE, 4)]);
    for piece in flight.chunks(1_448) {
        assert!(!probe.answer(piece), "its hello and its certificate");
    }
    assert!(!probe.ask(&records(&[(HANDSHAKE, 70), (CHANGE_CIPHER_SPEC, 1), (HANDSHAKE, 40)])));
    assert!(!probe.answer(&records(&[(HANDSHAKE, 200), (CHANGE_CIPHER_SPEC, 1), (HANDSHAKE, 40)])));
    probe
}

/// TLS 1.3, up to where the client is to say that it has finished.
fn modern(role: Role) -> Probe {
    let mut probe = greeted(role);
    let hello = [(HANDSHAKE, 122), (CHANGE_CIPHER_SPEC, 1)];
    let hidden = [(DATA, 40), (DATA, 3_000), (DATA, 281), (DATA, FINISHED)];
    for piece in records(&[&hello[..], &hidden].concat()).chunks(1_448) {
        assert!(!probe.answer(piece), "its handshake");
    }
    assert_eq!(probe.connection.tls, TlsStage::Finishing);
    probe
}

/// A client asks and is answered.
fn turn(probe: &mut Probe, request: u16, response: u16) {
    assert!(probe.ask(&record(DATA, request)), "a request");
    assert!(probe.answer(&record(DATA, response)), "a response");
}

/// The exchanges are these, and nothing but these is uncertain.
fn ended(probe: &mut Probe, exchanges: &[(u64, u64)], uncertain: &[Reason]) {
    probe.close();
    assert_eq!((probe.bytes().as_slice(), probe.uncertain.as_slice()), (exchanges, uncertain));
    assert!(probe.completed.iter().all(|exchange| {
        exchange.protocol == Protocol::Tls && exchange.outcome == Outcome::Ok && exchange.latency.0 > 0
    }));
}

#[test]
fn the_whole_handshake_of_tls_1_2() {
    for role in ROLES {
        let mut probe = classic(role);
        turn(&mut probe, 200, 1_000);
        // A response in several records and segments, cut where no record ends.
        assert!(probe.ask(&record(DATA, 100)));
        for piece in records(&[(DATA, 3_000), (DATA, 3_000)]).chunks(1_000) {
            assert!(probe.answer(piece));
        }
        let long = 2 * (HEADER + 3_000);
        ended(&mut probe, &[(205, 1_005), (105, long)], &[Reason::Handshake]);
        assert_eq!(probe.connection.tls, TlsStage::Classic);
    }
}

#[test]
fn the_resumption_of_tls_1_2() {
    for role in ROLES {
        let mut probe = greeted(role);
        assert!(!probe.answer(&records(&[(HANDSHAKE, 80), (CHANGE_CIPHER_SPEC, 1), (HANDSHAKE, 40)])));
        // Finished and the first request share a segment: all of it counts.
        let last = records(&[(CHANGE_CIPHER_SPEC, 1), (HANDSHAKE, 40), (DATA, 100)]);
        assert!(probe.ask(&last));
        assert!(probe.answer(&record(DATA, 500)));
        ended(&mut probe, &[(last.len() as u64, 505)], &[Reason::Handshake]);
    }
}

/// What has the length of an alert or of a key update in TLS 1.3 is neither in TLS 1.2.
#[test]
fn short_records_of_tls_1_2_count() {
    for length in [HIDDEN_ALERT, KEY_UPDATE, FINISHED, 0, 1] {
        let mut probe = classic(Role::Client);
        assert!(probe.ask(&record(DATA, 100)));
        // An empty record carries nothing, and its header is not told from one without payload.
        assert_eq!(probe.answer(&record(DATA, length)), length != 0);
        assert!(probe.answer(&record(DATA, 600)));
        probe.close();
        assert_eq!((probe.completed.len(), probe.uncertain.len()), (1, 1), "{length}");
    }
}

/// Nobody can tell whether tickets come in front of the first answer: the first turn is counted.
#[test]
fn a_handshake_of_tls_1_3_without_tickets() {
    for role in ROLES {
        for finished in [FINISHED, FINISHED_SHA384] {
            let mut probe = modern(role);
            assert!(!probe.ask(&records(&[(CHANGE_CIPHER_SPEC, 1), (DATA, finished)])));
            assert_eq!(probe.connection.tls, TlsStage::Tickets);
            turn(&mut probe, 300, 700);
            turn(&mut probe, 301, 701);
            turn(&mut probe, 302, 702);
            ended(&mut probe, &[(306, 706), (307, 707)], &[Reason::Handshake, Reason::Tls]);
        }
    }
}

#[test]
fn a_handshake_of_tls_1_3_with_tickets_before_the_first_request() {
    for role in ROLES {
        let mut probe = modern(role);
        assert!(!probe.ask(&record(DATA, FINISHED)));
        assert!(!probe.answer(&record(DATA, TICKET)));
        turn(&mut probe, 100, 100);
        assert_eq!(probe.connection.tls, TlsStage::Tickets);
        turn(&mut probe, 300, 700);
        turn(&mut probe, 301, 701);
        ended(&mut probe, &[(305, 705), (306, 706)], &[Reason::Handshake, Reason::Tls]);
    }
}

/// A ticket may still come when the first request is under way, so the first turn is left out in any case.
#[test]
fn two_tickets_before_the_first_request() {
    for role in ROLES {
        let mut probe = modern(role);
        assert!(!probe.ask(&record(DATA, FINISHED)));
        probe.answer(&records(&[(DATA, TICKET), (DATA, TICKET)]));
        turn(&mut probe, 300, 700);
        turn(&mut probe, 301, 701);
        ended(&mut probe, &[(306, 706)], &[Reason::Handshake, Reason::Tls]);
    }
}

#[test]
fn tickets_in_front_of_the_first_answer() {
    for role in ROLES {
        let mut probe = modern(role);
        // Finished takes the first request along.
        assert!(probe.ask(&records(&[(CHANGE_CIPHER_SPEC, 1), (DATA, FINISHED), (DATA, 300)])));
        assert!(probe.answer(&record(DATA, TICKET)));
        assert!(probe.answer(&record(DATA, TICKET)));
        assert!(probe.answer(&record(DATA, 700)));
        turn(&mut probe, 301, 701);
        ended(&mut probe, &[(306, 706)], &[Reason::Handshake, Reason::Tls]);
    }
}

/// A client asks at once, and its Finished is followed by nothing until the answer.
#[test]
fn a_first_turn_that_is_never_answered_is_counted() {
    let mut probe = modern(Role::Client);
    assert!(probe.ask(&records(&[(DATA, FINISHED), (DATA, 300)])));
    ended(&mut probe, &[], &[Reason::Handshake, Reason::Tls]);
}

#[test]
fn the_resumption_of_tls_1_3() {
    for role in ROLES {
        let mut probe = greeted(role);
        let flight = [(HANDSHAKE, 128), (CHANGE_CIPHER_SPEC, 1), (DATA, 30), (DATA, FINISHED)];
        assert!(!probe.answer(&records(&flight)));
        assert!(!probe.ask(&records(&[(CHANGE_CIPHER_SPEC, 1), (DATA, FINISHED)])));
        assert!(!probe.answer(&record(DATA, TICKET)));
        turn(&mut probe, 100, 100);
        turn(&mut probe, 300, 700);
        ended(&mut probe, &[(305, 705)], &[Reason::Handshake, Reason::Tls]);
    }
}

/// Certificates are larger than any Finished, and so is the proof of owning one.
#[test]
fn certificates_of_clients() {
    for role in ROLES {
        let mut probe = modern(role);
        let flight = records(&[(CHANGE_CIPHER_SPEC, 1), (DATA, 6_000), (DATA, 281), (DATA, FINISHED)]);
        for piece in flight.chunks(1_448) {
            assert!(!probe.ask(piece), "its certificate");
        }
        assert_eq!(probe.connection.tls, TlsStage::Tickets);
        assert!(!probe.answer(&record(DATA, TICKET)));
        turn(&mut probe, 100, 100);
        turn(&mut probe, 300, 700);
        ended(&mut probe, &[(305, 705)], &[Reason::Handshake, Reason::Tls]);

        // In TLS 1.2 they are what they say they are.
        let mut probe = greeted(role);
        probe.answer(&records(&[(HANDSHAKE, 80), (HANDSHAKE, 4_000), (HANDSHAKE, 400), (HANDSHAKE, 4)]));
        let flight = [(HANDSHAKE, 6_000), (HANDSHAKE, 70), (HANDSHAKE, 264), (CHANGE_CIPHER_SPEC, 1)];
        for piece in records(&[&flight[..], &[(HANDSHAKE, 40)]].concat()).chunks(1_448) {
            assert!(!probe.ask(piece), "its certificate");
        }
        probe.answer(&records(&[(CHANGE_CIPHER_SPEC, 1), (HANDSHAKE, 40)]));
        turn(&mut probe, 300, 700);
        ended(&mut probe, &[(305, 705)], &[Reason::Handshake]);
    }
}

/// A Finished that is not found, since it shares its record with others, makes everything uncertain; nothing is
/// made up.
#[test]
fn a_finished_that_is_not_found() {
    let mut probe = modern(Role::Client);
    assert!(!probe.ask(&record(DATA, 6_334)));
    for _ in 0..20 {
        probe.ask(&record(DATA, 300));
        probe.answer(&record(DATA, 700));
    }
    assert_eq!(probe.connection.phase, Phase::Opaque);
    // Sixteen records of the asking side are waited for.
    ended(&mut probe, &[], &[&[Reason::Handshake][..], &[Reason::Tls; 5]].concat());
}

#[test]
fn a_hello_that_has_to_be_said_again() {
    for role in ROLES {
        let mut probe = greeted(role);
        assert!(!probe.answer(&records(&[(HANDSHAKE, 88), (CHANGE_CIPHER_SPEC, 1)])));
        assert!(!probe.ask(&records(&[(CHANGE_CIPHER_SPEC, 1), (HANDSHAKE, 600)])));
        let flight = [(HANDSHAKE, 155), (DATA, 40), (DATA, 3_000), (DATA, 281), (DATA, FINISHED)];
        assert!(!probe.answer(&records(&flight)));
        assert!(!probe.ask(&record(DATA, FINISHED)));
        assert!(!probe.answer(&record(DATA, TICKET)));
        turn(&mut probe, 100, 100);
        turn(&mut probe, 300, 700);
        ended(&mut probe, &[(305, 705)], &[Reason::Handshake, Reason::Tls]);
    }
}

/// Data ahead of the handshake: from there on nothing tells one from the other.
#[test]
fn data_before_the_handshake() {
    for role in ROLES {
        for together in [true, false] {
            let mut probe = if together {
                let mut probe = Probe::new(role, [1_000, 2_000]);
                probe.ask(&records(&[(HANDSHAKE, 512), (CHANGE_CIPHER_SPEC, 1), (DATA, 300)]));
                probe
            } else {
                let mut probe = greeted(role);
                probe.ask(&records(&[(CHANGE_CIPHER_SPEC, 1), (DATA, 300)]));
                probe
            };
            assert_eq!(probe.connection.phase, Phase::Opaque);
            probe.answer(&records(&[(HANDSHAKE, 128), (DATA, 30), (DATA, FINISHED), (DATA, 700)]));
            for _ in 0..3 {
                probe.ask(&record(DATA, 300));
                probe.answer(&record(DATA, 700));
            }
            probe.close();
            assert_eq!(probe.completed.len(), 0);
            assert_eq!(probe.uncertain[0], Reason::Handshake);
            let turns = probe.uncertain.iter().filter(|reason| **reason == Reason::Tls).count();
            assert!((3..=4).contains(&turns), "{:?}", probe.uncertain);
        }
    }
}

/// An alert is no request, wherever it comes.
#[test]
fn alerts_ask_and_answer_nothing() {
    for role in ROLES {
        let mut probe = classic(role);
        turn(&mut probe, 300, 700);
        assert!(!probe.ask(&record(ALERT, 26)));
        assert!(!probe.answer(&record(ALERT, 26)));
        ended(&mut probe, &[(305, 705)], &[Reason::Handshake]);

        let mut probe = modern(role);
        probe.ask(&record(DATA, FINISHED));
        probe.answer(&record(DATA, TICKET));
        turn(&mut probe, 100, 100);
        turn(&mut probe, 300, 700);
        assert!(!probe.ask(&record(DATA, HIDDEN_ALERT)));
        assert!(!probe.answer(&record(DATA, HIDDEN_ALERT)));
        ended(&mut probe, &[(305, 705)], &[Reason::Handshake, Reason::Tls]);

        // Instead of a handshake.
        let mut probe = greeted(role);
        assert!(!probe.answer(&record(ALERT, 2)));
        ended(&mut probe, &[], &[Reason::Handshake]);
    }
}

#[test]
fn key_updates_ask_and_answer_nothing() {
    for role in ROLES {
        let mut probe = modern(role);
        probe.ask(&record(DATA, FINISHED));
        probe.answer(&record(DATA, TICKET));
        turn(&mut probe, 100, 100);
        turn(&mut probe, 300, 700);
        assert!(!probe.ask(&record(DATA, KEY_UPDATE)));
        assert!(!probe.answer(&record(DATA, KEY_UPDATE)));
        probe.close();
        let latencies: Vec<u64> = probe.completed.iter().map(|exchange| exchange.latency.0).collect();
        assert_eq!(
            (latencies, probe.uncertain.as_slice()),
            (vec![10], [Reason::Handshake, Reason::Tls].as_slice())
        );
    }
}

/// Somebody says hello and is answered in clear text, or says none.
#[test]
fn what_is_no_tls_is_no_exchange() {
    for role in ROLES {
        let mut probe = greeted(role);
        assert!(!probe.answer(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        assert_eq!(probe.connection.phase, Phase::Opaque);
        probe.ask(b"GET / HTTP/1.1\r\n\r\n");
        probe.answer(b"HTTP/1.1 200 OK\r\n\r\n");
        ended(&mut probe, &[], &[Reason::Handshake, Reason::Tls]);

        // A first record of another length than its segment's, and what follows is no record.
        let mut probe = Probe::new(role, [0, 0]);
        probe.ask(&[record(HANDSHAKE, 300), b"garbage".to_vec()].concat());
        assert_eq!(probe.connection.phase, Phase::Opaque);
        ended(&mut probe, &[], &[Reason::Handshake]);
    }
}

/// Segments that pass again count once.
#[test]
fn records_that_pass_again() {
    for role in ROLES {
        let mut probe = classic(role);
        let (asks, answers) = match role {
            Role::Client => (Direction::Egress, Direction::Ingress),
            _ => (Direction::Ingress, Direction::Egress),
        };
        let (request, response) = (record(DATA, 200), record(DATA, 1_000));
        let before = [517 + 75 + 6 + 45, 85 + 4_005 + 305 + 9 + 205 + 6 + 45];
        assert!(probe.ask(&request));
        assert!(!probe.segment(asks, before[0], &request));
        assert!(probe.answer(&response));
        assert!(!probe.segment(answers, before[1], &response));
        assert!(!probe.segment(asks, before[0], &request));
        turn(&mut probe, 201, 1_001);
        ended(&mut probe, &[(205, 1_005), (206, 1_006)], &[Reason::Handshake]);
        assert!(probe.completed[0].retransmits > 0);
    }
}

/// After a gap that takes a header along nothing tells records from each other, until the end.
#[test]
fn a_gap_makes_everything_uncertain() {
    for asks in [true, false] {
        let mut probe = classic(Role::Client);
        turn(&mut probe, 200, 1_000);
        probe.miss(asks, 700);
        for _ in 0..3 {
            probe.ask(&record(DATA, 200));
            probe.answer(&record(DATA, 1_000));
        }
        assert_eq!(probe.connection.phase, Phase::Opaque);
        probe.close();
        assert!(probe.completed.len() <= 1, "{:?}", probe.completed);
        assert!(probe.uncertain.contains(&Reason::Tls), "{:?}", probe.uncertain);
    }
}

/// One side's part of a turn, as records.
fn parts() -> impl Strategy<Value = Vec<(u8, u16)>> {
    vec((Just(DATA), prop_oneof![23_u16..53, 70_u16..200, 1_000_u16..5_000]), 1..4)
}

fn cut(bytes: &[u8], choices: &mut impl Iterator<Item = u32>) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let longest = u32::try_from(rest.len()).unwrap();
        let (piece, more) =
            rest.split_at(longest.min(1 + choices.next().unwrap_or(u32::MAX - 1) % longest) as usize);
        pieces.push(piece.to_vec());
        rest = more;
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// However handshake and turns are cut into segments: the same exchanges.
    #[test]
    fn segments_do_not_matter(
        role in prop_oneof![Just(Role::Client), Just(Role::Server)],
        starts in any::<[u32; 2]>(),
        new in any::<bool>(),
        turns in vec((parts(), parts()), 1..5),
        choices in vec(prop_oneof![0_u32..12, any::<u32>()], 0..200),
    ) {
        let mut choices = choices.into_iter();
        let mut probe = Probe::new(role, starts);
        // The first 12 bytes of a hello come in one segment.
        probe.ask(&record(HANDSHAKE, 300)[..200]);
        let mut sides = vec![(true, record(HANDSHAKE, 300)[200..].to_vec())];
        if new {
            let flight = [(HANDSHAKE, 122), (CHANGE_CIPHER_SPEC, 1), (DATA, 40), (DATA, 3_000), (DATA, FINISHED)];
            sides.push((false, records(&flight)));
            sides.push((true, records(&[(CHANGE_CIPHER_SPEC, 1), (DATA, FINISHED)])));
            sides.push((false, record(DATA, TICKET)));
        } else {
            sides.push((false, records(&[(HANDSHAKE, 80), (HANDSHAKE, 4_000), (HANDSHAKE, 4)])));
            sides.push((true, records(&[(HANDSHAKE, 70), (CHANGE_CIPHER_SPEC, 1), (HANDSHAKE, 40)])));
            sides.push((false, records(&[(CHANGE_CIPHER_SPEC, 1), (HANDSHAKE, 40)])));
        }
        for (asks, bytes) in sides {
            for piece in cut(&bytes, &mut choices) {
                prop_assert!(!probe.say(asks, &piece), "a handshake counts");
            }
        }
        let mut truth = Vec::new();
        for (request, response) in turns {
            let (request, response) = (records(&request), records(&response));
            truth.push((request.len() as u64, response.len() as u64));
            for (asks, bytes) in [(true, request), (false, response)] {
                for piece in cut(&bytes, &mut choices) {
                    probe.say(asks, &piece);
                }
            }
        }
        probe.close();
        if new {
            truth.remove(0); // tickets may have come in front of its answer
            prop_assert_eq!(probe.uncertain.as_slice(), [Reason::Handshake, Reason::Tls].as_slice());
        } else {
            prop_assert_eq!(probe.uncertain.as_slice(), [Reason::Handshake].as_slice());
        }
        prop_assert_eq!(probe.completed.len(), truth.len());
        // A header, or a piece of one, that comes alone belongs to no segment that counts.
        for (seen, truth) in probe.bytes().iter().zip(&truth) {
            prop_assert!(seen.0 <= truth.0 && seen.1 <= truth.1, "{seen:?} is more than {truth:?}");
        }
    }

    /// Without a record of application data there is no exchange, whatever else passes.
    #[test]
    fn no_exchange_before_data(
        role in prop_oneof![Just(Role::Client), Just(Role::Server)],
        said in vec((any::<bool>(), prop_oneof![20_u8..23, Just(24)], any::<u16>()), 0..40),
        choices in vec(any::<u32>(), 0..100),
    ) {
        let mut choices = choices.into_iter();
        let mut probe = greeted(role);
        for (asks, kind, length) in said {
            for piece in cut(&record(kind, length % 3_000), &mut choices) {
                prop_assert!(!probe.say(asks, &piece));
            }
        }
        probe.close();
        prop_assert_eq!(probe.completed.len(), 0);
        prop_assert_eq!(probe.uncertain.as_slice(), [Reason::Handshake].as_slice());
    }

    /// Arbitrary bytes behind a hello: no panic, and no exchange where no record of application data can have been.
    #[test]
    fn arbitrary_bytes(
        role in prop_oneof![Just(Role::Client), Just(Role::Server)],
        starts in any::<[u32; 2]>(),
        hello in vec(any::<u8>(), 0..60),
        said in vec((any::<bool>(), any::<bool>(), vec(any::<u8>(), 0..80), 0_u32..9), 0..40),
        data in any::<bool>(),
    ) {
        let cleaned = |mut bytes: Vec<u8>| {
            if !data {
                bytes.iter_mut().filter(|byte| **byte == DATA).for_each(|byte| *byte = ALERT);
            }
            bytes
        };
        let mut probe = Probe::new(role, starts);
        probe.ask(&cleaned([vec![HANDSHAKE, 3, 1, 0, 60, 1, 0], hello].concat()));
        if probe.connection.protocol != Protocol::Tls {
            return Ok(()); // too short to be recognised
        }
        for (asks, like_a_record, bytes, missed) in said {
            let front = if like_a_record { vec![DATA, 3, 3, 0, 40] } else { Vec::new() };
            if missed == 0 {
                probe.miss(asks, 50);
            }
            probe.say(asks, &cleaned([front, bytes].concat()));
        }
        probe.close();
        prop_assert!(data || probe.completed.is_empty(), "{:?}", probe.completed);
    }
}
