//! MySQL, whose server speaks first, and some of whose commands nobody answers.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use observer_common::{Outcome, Protocol, Reason, Role};

mod probe;

use probe::Probe;

const QUIT: u8 = 0x01;
const QUERY: u8 = 0x03;
const EXECUTE: u8 = 0x17;
const SEND_LONG_DATA: u8 = 0x18;
const CLOSE: u8 = 0x19;

const ROLES: [Role; 2] = [Role::Client, Role::Server];

/// A packet: its length, its number and what it says.
fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let [b0, b1, b2, _] = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&[b0, b1, b2, number], payload].concat()
}

fn command(command: u8, rest: &[u8]) -> Vec<u8> {
    packet(0, &[&[command], rest].concat())
}

fn greeting(version: &[u8]) -> Vec<u8> {
    packet(0, &[&[10], version, &[0; 60]].concat())
}

/// A client has logged in: the greeting is counted, and the login an exchange like any other to the kernel.
fn logged_in(role: Role) -> Probe {
    let mut probe = Probe::new(role, [7, 9]);
    probe.answer(&greeting(b"8.0.36"));
    assert_eq!(
        (probe.connection.protocol, probe.uncertain.as_slice()),
        (Protocol::Mysql, [Reason::Handshake].as_slice())
    );
    assert!(probe.ask(&packet(1, &[0x0f; 80])));
    assert!(probe.answer(&packet(2, &[0, 0, 0, 2, 0, 0, 0])));
    probe
}

#[test]
fn greetings_of_every_version() {
    for version in
        [&b"5.7.44-log"[..], b"8.0.36", b"9.1.0", b"10.11.6-MariaDB", b"11.4.2-MariaDB", b"5.5.5-10.6"]
    {
        let mut probe = Probe::new(Role::Client, [0, 0]);
        probe.answer(&greeting(version));
        assert_eq!(probe.connection.protocol, Protocol::Mysql, "{version:?}");
    }
}

/// What looks like one is none where it comes later, or from the side that asks.
#[test]
fn greetings_that_are_none() {
    let mut probe = Probe::new(Role::Client, [0, 0]);
    probe.ask(b"something else");
    probe.answer(&greeting(b"8.0.36"));
    assert_eq!(probe.connection.protocol, Protocol::Unknown);
    let mut probe = Probe::new(Role::Client, [0, 0]);
    probe.ask(&greeting(b"8.0.36"));
    assert_eq!(probe.connection.protocol, Protocol::Unknown);
    for other in [&b"220 mail.example ESMTP\r\n"[..], b"SSH-2.0-OpenSSH_9.2\r\n", b"RFB 003.008\n"] {
        let mut probe = Probe::new(Role::Client, [0, 0]);
        probe.answer(other);
        assert_eq!(
            (probe.connection.protocol, probe.uncertain.as_slice()),
            (Protocol::Unknown, [Reason::Push].as_slice())
        );
    }
}

#[test]
fn commands_are_exchanges() {
    for role in ROLES {
        let mut probe = logged_in(role);
        for length in [1, 100, 1_000] {
            assert!(probe.ask(&command(QUERY, &vec![b'x'; length])));
            assert!(probe.answer(&packet(1, &[1; 30])));
        }
        probe.close();
        let requests: Vec<u64> = probe.completed.iter().map(|exchange| exchange.request_bytes).collect();
        assert_eq!((requests, probe.uncertain.len()), (vec![84, 6, 105, 1_005], 1));
    }
}

/// Commands that nobody answers neither begin an exchange nor belong to one.
#[test]
fn unanswered_commands_are_counted() {
    for role in ROLES {
        let mut probe = logged_in(role);
        for silent in [command(CLOSE, &[1, 0, 0, 0]), command(SEND_LONG_DATA, &[7; 500])] {
            assert!(!probe.ask(&silent));
            assert!(probe.ask(&command(EXECUTE, &[1; 20])));
            assert!(probe.answer(&packet(1, &[1; 30])));
        }
        assert!(!probe.ask(&command(QUIT, &[])));
        probe.close();
        assert_eq!(probe.bytes(), [(84, 11), (25, 34), (25, 34)]);
        let unanswered = [Reason::Handshake, Reason::Unanswered, Reason::Unanswered, Reason::Unanswered];
        assert_eq!(probe.uncertain, unanswered);
        assert!(probe.completed.iter().all(|exchange| exchange.outcome == Outcome::Ok));
    }
}

/// A session that ends with one is over, and not left waiting.
#[test]
fn nobody_waits_for_an_answer_to_quit() {
    let mut probe = logged_in(Role::Client);
    probe.ask(&command(QUIT, &[]));
    probe.close();
    assert_eq!((probe.completed.len(), probe.completed[0].outcome), (1, Outcome::Ok));
}

/// Together with a command that is answered, or in part, they are not told: the segment asks.
/// A command behind a gap is known by its place all the same.
#[test]
fn a_session_goes_on_behind_a_gap() {
    let mut probe = logged_in(Role::Client);
    probe.miss(true, 100);
    assert!(!probe.ask(&command(CLOSE, &[1, 0, 0, 0])));
    assert!(probe.ask(&command(QUERY, b"select 1")));
    assert!(probe.answer(&packet(1, &[1; 30])));
    probe.close();
    assert_eq!(probe.completed.len(), 2);
}

#[test]
fn only_whole_segments_are_unanswered() {
    let close = command(CLOSE, &[1, 0, 0, 0]);
    for segment in [
        [close.clone(), command(QUERY, b"select 1")].concat(),
        close[..close.len() - 1].to_vec(),
        packet(1, &[CLOSE, 1, 0, 0, 0]), // not the first packet of a command
    ] {
        let mut probe = logged_in(Role::Client);
        assert!(probe.ask(&segment), "{segment:?}");
    }
}
