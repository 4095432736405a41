//! Content of TLS 1.3 that is as long as an alert or a key update: nothing tells it from these, so what it may have
//! asked or answered is never measured.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use observer_common::{Outcome, Reason, Role};
use proptest::{collection::vec, prelude::*};

#[expect(dead_code, reason = "other tests need more of it")]
mod probe;

use probe::Probe;

const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;
/// Lengths of records.
const FINISHED: u16 = 53;
const ALERT: u16 = 19;
const KEY_UPDATE: u16 = 22;

const ROLES: [Role; 2] = [Role::Client, Role::Server];

fn record(kind: u8, length: u16) -> Vec<u8> {
    let [high, low] = length.to_be_bytes();
    let mut bytes = vec![kind, 3, 3, high, low];
    bytes.resize(5 + usize::from(length), 0xe7);
    bytes
}

/// One turn after another, in a segment each.
fn turns(probe: &mut Probe, turns: &[(u16, u16)]) {
    for &(request, response) in turns {
        probe.ask(&record(DATA, request));
        probe.answer(&record(DATA, response));
    }
}

/// TLS 1.3 behind its first turn, which is left out.
fn open(role: Role) -> Probe {
    let mut probe = Probe::new(role, [1_000, 2_000]);
    probe.ask(&record(HANDSHAKE, 512));
    probe.answer(&[record(HANDSHAKE, 122), record(DATA, 3_000)].concat());
    probe.ask(&record(DATA, FINISHED));
    turns(&mut probe, &[(100, 100)]);
    probe
}

/// What became exchanges, and how many turns were left out behind the first.
fn ended(probe: &mut Probe) -> (Vec<(u64, u64)>, usize) {
    probe.close();
    assert_eq!(probe.uncertain[..2], [Reason::Handshake, Reason::Tls]);
    assert!(probe.uncertain[2..].iter().all(|reason| *reason == Reason::Overlapping));
    (probe.bytes(), probe.uncertain.len() - 2)
}

#[test]
fn requests_behind_a_hidden_answer_are_not_merged() {
    for role in ROLES {
        for hidden in [ALERT, KEY_UPDATE] {
            let mut probe = open(role);
            turns(&mut probe, &[(300, 700), (301, hidden), (302, hidden), (303, 703), (304, 704)]);
            // The one behind a hidden answer may be the rest of the request before.
            assert_eq!(ended(&mut probe), (vec![(305, 705), (309, 709)], 3), "{hidden}");
        }
    }
}

#[test]
fn an_answer_behind_a_hidden_one_may_not_be_the_first() {
    for role in ROLES {
        let mut probe = open(role);
        probe.ask(&record(DATA, 300));
        probe.answer(&record(DATA, KEY_UPDATE));
        probe.answer(&record(DATA, 700));
        turns(&mut probe, &[(301, 701)]);
        assert_eq!(ended(&mut probe), (vec![(306, 706)], 1));
    }
}

#[test]
fn an_answer_behind_a_hidden_request_is_no_part_of_the_one_before() {
    for role in ROLES {
        let mut probe = open(role);
        turns(&mut probe, &[(300, 700), (KEY_UPDATE, 701), (302, 702)]);
        // The next request may have begun with the hidden record.
        assert_eq!(ended(&mut probe), (vec![], 2));
    }
}

/// An alert ends the connection, a key update does not.
#[test]
fn a_connection_that_ends_behind_a_hidden_answer() {
    for (hidden, exchanges, left_out) in [(ALERT, vec![(305, 0)], 0), (KEY_UPDATE, vec![], 1)] {
        let mut probe = open(Role::Client);
        turns(&mut probe, &[(300, hidden)]);
        assert_eq!(ended(&mut probe), (exchanges, left_out));
        assert!(probe.completed.iter().all(|exchange| exchange.outcome == Outcome::Timeout));
    }
}

/// The chunk that ends a body is five bytes long.
#[test]
fn the_end_of_an_answer_is_not_hidden() {
    let mut probe = open(Role::Client);
    turns(&mut probe, &[(300, 700)]);
    probe.answer(&record(DATA, KEY_UPDATE));
    assert_eq!(ended(&mut probe), (vec![(305, 732)], 0));
    assert_eq!((probe.completed[0].latency.0, probe.completed[0].complete.0), (10, 20));
}

/// What one side says at once: records in a segment each.
fn message() -> impl Strategy<Value = Vec<u16>> {
    vec(prop_oneof![Just(ALERT), Just(KEY_UPDATE), 23_u16..200], 1..4)
}

/// The time of the last segment, which come 10 apart.
fn say(probe: &mut Probe, asks: bool, message: &[u16], now: &mut u64) -> u64 {
    for &length in message {
        *now += 10;
        probe.say(asks, &record(DATA, length));
    }
    *now
}

proptest! {
    /// Whatever is hidden: what is measured began with a request, and its answer with the answer to that.
    #[test]
    fn no_time_is_wrong(
        role in prop_oneof![Just(Role::Client), Just(Role::Server)],
        said in vec((message(), message()), 0..40),
    ) {
        let mut probe = open(role);
        // Before the first of them: hello, its answer, Finished, one turn.
        let mut now = 50;
        let mut truth = Vec::new();
        for (request, response) in said {
            let start = now + 10;
            let first = say(&mut probe, true, &request, &mut now) + 10;
            truth.push((start, first - start, say(&mut probe, false, &response, &mut now) - start));
        }
        probe.close();
        for exchange in probe.completed.iter().filter(|exchange| exchange.outcome == Outcome::Ok) {
            let seen = (exchange.start.0, exchange.latency.0, exchange.complete.0);
            let is_true = |&(start, latency, complete): &(u64, u64, u64)| {
                // What ends with content as short as an alert is over earlier.
                (start, latency) == (seen.0, seen.1) && complete >= seen.2
            };
            prop_assert!(truth.iter().any(is_true), "{seen:?} is none of {truth:?}");
        }
    }
}
