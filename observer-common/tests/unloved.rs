//! The segments that nobody thinks of: each alone, and what becomes of the exchange around it.
//!
//! Where nothing else is said, a client asks 5 bytes at 100 and is answered 6 bytes at 200.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use observer_common::{
    Closed, Completed, Connection, Direction, Head, Known, Nanoseconds, Outcome, Protocol, Reason, Role,
    Route, Segment, TcpFlags, Timestamp, UNKNOWN_DURATION,
};

mod wire;

use wire::{FIN, RST, SYN, Wire};

const ASK: &[u8] = b"ask 1";
const ANSWER: &[u8] = b"answer";
const GET: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";

fn client() -> Wire {
    Wire::new(Role::Client, 1_000, 2_000)
}

fn asked() -> Wire {
    let mut wire = client();
    wire.at(100).send(0, ASK, 0);
    wire
}

fn answered() -> Wire {
    let mut wire = asked();
    wire.at(200).receive(0, ANSWER, 0);
    wire
}

/// The only exchange, which is certain.
fn only(wire: &Wire) -> &Completed {
    assert_eq!((wire.completed.len(), wire.uncertain.as_slice()), (1, [].as_slice()), "{wire:?}");
    &wire.completed[0]
}

/// The only exchange's latency and time to the last byte.
fn times(wire: &Wire) -> (u64, u64) {
    let only = only(wire);
    assert_eq!(only.outcome, Outcome::Ok);
    (only.latency.0, only.complete.0)
}

/// How the only exchange ended without a response, and how long was waited.
fn waited(wire: &Wire) -> (Outcome, u64) {
    let only = only(wire);
    assert_eq!(only.complete, UNKNOWN_DURATION);
    (only.outcome, only.latency.0)
}

#[test]
fn nothing_unusual() {
    let mut wire = answered();
    wire.at(300).close();
    assert_eq!(times(&wire), (100, 100));
    let only = only(&wire);
    assert_eq!((only.number, only.retransmits, only.sent), (1, 0, Nanoseconds(0)));
    assert_eq!((only.request_bytes, only.response_bytes), (5, 6));
}

#[test]
fn a_request_sent_again() {
    let mut wire = asked();
    wire.at(150).send(0, ASK, 0).at(200).receive(0, ANSWER, 0).at(300).close();
    assert_eq!(times(&wire), (100, 100));
    assert_eq!((only(&wire).retransmits, only(&wire).request_bytes), (1, 5));
}

#[test]
fn a_response_received_again() {
    let mut wire = answered();
    wire.at(250).receive(0, ANSWER, 0).at(300).close();
    assert_eq!(times(&wire), (100, 100));
    assert_eq!((only(&wire).retransmits, only(&wire).response_bytes), (1, 6));
}

#[test]
fn a_response_received_again_during_the_next_request() {
    let mut wire = answered();
    wire.at(300).send(5, ASK, 0).at(350).receive(0, ANSWER, 0);
    wire.at(400).receive(6, ANSWER, 0).at(500).close();
    let latencies: Vec<_> = wire.completed.iter().map(|exchange| exchange.latency.0).collect();
    assert_eq!((latencies, wire.uncertain.len()), (vec![100, 100], 0));
}

/// A probe carries no byte, or the last one again; neither is a request, a response or a retransmission.
#[test]
fn keep_alive_probes() {
    let mut wire = answered();
    wire.at(300).receive(5, b"", 0).receive(5, &ANSWER[5..], 0).send(4, b"", 0);
    wire.at(400).close();
    assert_eq!(times(&wire), (100, 100));
    assert_eq!(only(&wire).retransmits, 0);
}

#[test]
fn a_response_out_of_order() {
    let mut wire = asked();
    wire.at(200).receive(3, &ANSWER[3..], 0);
    assert_eq!(wire.readable(), 0);
    wire.at(250).receive(0, &ANSWER[..3], 0).at(300).close();
    assert_eq!(times(&wire), (150, 150));
    assert_eq!(only(&wire).response_bytes, 6);
}

#[test]
fn several_gaps() {
    let mut wire = asked();
    for (at, position) in [(200, 0), (210, 2), (220, 5), (230, 4), (240, 1), (250, 3)] {
        wire.at(at).receive(position, &ANSWER[position as usize..=position as usize], 0);
    }
    wire.at(300).send(5, ASK, 0).at(400).receive(6, ANSWER, 0).at(500).close();
    let seen: Vec<_> = wire
        .completed
        .iter()
        .map(|exchange| (exchange.latency.0, exchange.complete.0, exchange.response_bytes))
        .collect();
    assert_eq!((seen, wire.uncertain.len()), (vec![(100, 150, 6), (100, 100, 6)], 0));
}

#[test]
fn a_request_out_of_order_at_the_server() {
    let mut wire = Wire::new(Role::Server, 1_000, 2_000);
    wire.at(100).receive(2, &ASK[2..], 0).at(130).receive(0, &ASK[..2], 0);
    wire.at(200).send(0, ANSWER, 0).at(300).close();
    assert_eq!(times(&wire), (100, 100));
    assert_eq!((only(&wire).sent, only(&wire).request_bytes), (Nanoseconds(30), 5));
}

#[test]
fn fin_with_data() {
    let mut wire = asked();
    wire.at(200).receive(0, ANSWER, FIN);
    assert_eq!(times(&wire), (100, 100));
}

#[test]
fn fin_ahead_of_data() {
    let mut wire = asked();
    wire.at(200).receive(3, &ANSWER[3..], FIN);
    assert!(wire.completed.is_empty(), "the beginning is still missing");
    wire.at(250).receive(0, &ANSWER[..3], 0).at(300).receive(3, &ANSWER[3..], FIN).close();
    assert_eq!(times(&wire), (150, 150));
}

#[test]
fn fin_instead_of_a_response() {
    let mut wire = asked();
    wire.at(200).receive(0, b"", FIN);
    assert_eq!(waited(&wire), (Outcome::Reset, 100));
}

#[test]
fn resets_from_either_side() {
    let mut theirs = asked();
    theirs.at(200).receive(0, b"", RST);
    assert_eq!(waited(&theirs), (Outcome::Reset, 100));
    let mut ours = asked();
    ours.at(200).send(5, b"", RST);
    assert_eq!(waited(&ours), (Outcome::Cancelled, 100));
    let mut late = answered();
    late.at(300).receive(6, b"", RST);
    assert_eq!(times(&late), (100, 100));
}

#[test]
fn half_closed_then_answered() {
    let mut wire = client();
    wire.at(100).send(0, ASK, FIN).at(200).receive(0, ANSWER, FIN);
    assert_eq!(times(&wire), (100, 100));
}

#[test]
fn half_closed_then_reset() {
    let mut theirs = asked();
    theirs.at(150).send(5, b"", FIN).at(200).receive(0, b"", RST);
    assert_eq!(waited(&theirs), (Outcome::Reset, 100));
    // It was closed for good: the stack refuses the answer that comes too late.
    let mut ours = asked();
    ours.at(150).send(5, b"", FIN).at(200).receive(0, ANSWER, 0).send(6, b"", RST);
    assert_eq!(waited(&ours), (Outcome::Cancelled, 50));
}

/// The request leaves with the SYN. Refused, it leaves again after the handshake; it left first all the same.
#[test]
fn fast_open() {
    for accepted in [true, false] {
        let mut wire = client();
        wire.connection = Connection::default();
        wire.connection.open(Role::Client);
        wire.at(100).send(0, ASK, SYN);
        wire.connection.established(1_000 + if accepted { 5 } else { 0 }, 2_000);
        if !accepted {
            wire.at(150).send(0, ASK, 0);
        }
        wire.at(200).receive(0, ANSWER, FIN);
        assert_eq!(times(&wire), (100, 100), "accepted: {accepted}");
        assert_eq!(only(&wire).request_bytes, 5);
    }
}

/// A probe of a closed window carries one byte that the stack drops; it comes again with the rest.
#[test]
fn zero_window_probe() {
    let mut wire = asked();
    wire.at(200).refuse(0, &ANSWER[..1], 0);
    wire.at(250).refuse(0, &ANSWER[..1], 0);
    wire.at(300).receive(0, ANSWER, 0).at(400).close();
    assert_eq!(times(&wire), (200, 200));
    assert_eq!(only(&wire).response_bytes, 6);
}

#[test]
fn a_refused_response_comes_again() {
    let mut wire = asked();
    wire.at(200).refuse(0, ANSWER, 0).at(300).receive(0, ANSWER, 0).at(400).close();
    assert_eq!(times(&wire), (200, 200));
}

#[test]
fn continue_is_no_response() {
    let mut wire = client();
    wire.at(100).send(0, GET, 0).at(150).receive(0, b"HTTP/1.1 100 Continue\r\n\r\n", 0);
    wire.at(160).send(18, b"the body of the request", 0).at(200).receive(25, OK, FIN);
    assert_eq!(times(&wire), (100, 100));
    let only = only(&wire);
    assert_eq!((only.protocol, only.sent), (Protocol::Http1, Nanoseconds(60)));
    assert_eq!((only.request_bytes, only.response_bytes), (41, OK.len() as u64));
}

#[test]
fn pipelined_requests_are_no_pairs() {
    let mut wire = client();
    wire.at(100).send(0, GET, 0).at(110).send(18, GET, 0);
    wire.at(200).receive(0, OK, 0).at(210).receive(19, OK, 0).at(300).close();
    assert_eq!((wire.completed.len(), wire.uncertain.as_slice()), (0, [Reason::Overlapping].as_slice()));
}

/// A request line that is sent again together with what follows it is no second one.
#[test]
fn a_request_line_sent_again_with_more() {
    let mut wire = client();
    let whole = [GET, b"the body of the request"].concat();
    wire.at(100).send(0, GET, 0).at(110).send(0, &whole, 0).at(200).receive(0, OK, FIN);
    assert_eq!(times(&wire), (100, 100));
    assert_eq!(only(&wire).request_bytes, 41);
}

/// Whether a few bytes begin a request or end one that was answered early, nobody can tell.
#[test]
fn a_request_in_small_pieces_is_counted() {
    let mut wire = client();
    wire.at(100).send(0, GET, 0).at(200).receive(0, OK, 0);
    wire.at(300).send(18, &GET[..2], 0).send(20, &GET[2..], 0).at(400).receive(19, OK, FIN);
    assert_eq!((wire.completed.len(), wire.uncertain.as_slice()), (1, [Reason::Overlapping].as_slice()));
    assert_eq!(wire.completed[0].latency, Nanoseconds(100));
}

#[test]
fn a_request_that_goes_on_after_its_answer_is_counted() {
    let mut wire = client();
    wire.at(100).send(0, GET, 0).at(200).receive(0, OK, 0);
    wire.at(250).send(18, b"the rest of its body", 0).at(300).receive(19, OK, 0).at(400).close();
    assert!(wire.completed.is_empty());
    assert_eq!(wire.uncertain, [Reason::Overlapping]);
}

#[test]
fn tls_and_http2_are_recognised() {
    for (hello, protocol, route, reasons) in [
        (
            b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\0".as_slice(),
            Protocol::Tls,
            Route::Records,
            &[Reason::Handshake][..],
        ),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Protocol::Http2, Route::Frames, &[]),
    ] {
        let mut wire = client();
        wire.at(100).send(0, hello, 0);
        assert_eq!((wire.connection.protocol, wire.connection.route()), (protocol, route));
        assert_eq!((wire.completed.len(), wire.uncertain.as_slice()), (0, reasons));
    }
}

#[test]
fn from_the_middle_on() {
    let mut wire = Wire::in_the_middle(Role::Client, 1_000, 2_000);
    wire.at(50).receive(0, ANSWER, 0);
    wire.at(100).send(0, ASK, 0).at(200).receive(6, ANSWER, FIN);
    assert_eq!(wire.completed.len(), 1);
    assert_eq!(wire.completed[0].latency, Nanoseconds(100));
    assert_eq!(wire.uncertain, [Reason::StartedBefore]);
}

#[test]
fn from_the_middle_of_a_request_on() {
    let mut wire = Wire::in_the_middle(Role::Client, 1_000, 2_000);
    // Whether this begins a request or ends one, nobody can tell.
    wire.at(50).send(0, ASK, 0).at(60).receive(0, ANSWER, 0);
    wire.at(100).send(5, ASK, 0).at(200).receive(6, ANSWER, FIN);
    assert_eq!((wire.completed.len(), wire.uncertain.as_slice()), (1, [Reason::StartedBefore].as_slice()));
    assert_eq!(wire.completed[0].latency, Nanoseconds(100));
}

#[test]
fn what_the_server_pushes_is_no_response() {
    let mut wire = client();
    wire.at(50).receive(0, b"welcome", 0).receive(7, b"more", 0);
    wire.at(100).send(0, ASK, 0).at(200).receive(11, ANSWER, FIN);
    assert_eq!((wire.completed.len(), wire.uncertain.as_slice()), (1, [Reason::Push].as_slice()));
    assert_eq!((wire.completed[0].latency, wire.completed[0].response_bytes), (Nanoseconds(100), 6));
}

#[test]
fn closed_without_any_fin() {
    let mut wire = asked();
    wire.at(900).close();
    assert_eq!(waited(&wire), (Outcome::Timeout, 800));
}

#[test]
fn closed_after_our_fin() {
    let mut wire = asked();
    wire.at(150).send(5, b"", FIN).at(900).close();
    assert_eq!(waited(&wire), (Outcome::Cancelled, 50));
}

#[test]
fn sequence_numbers_wrap() {
    for role in [Role::Client, Role::Server] {
        let mut wire = Wire::new(role, u32::MAX - 2, u32::MAX - 3);
        let client = role == Role::Client;
        for (turn, position) in [(0, 0), (1, 5)] {
            let (asked, answered) = (position, position / 5 * 6);
            wire.at(turn * 1_000 + 100);
            if client {
                wire.send(asked, ASK, 0)
            } else {
                wire.receive(asked, ASK, 0)
            };
            wire.at(turn * 1_000 + 200);
            if client {
                wire.receive(answered, ANSWER, 0)
            } else {
                wire.send(answered, ANSWER, 0)
            };
        }
        wire.at(3_000).close();
        let seen: Vec<_> = wire
            .completed
            .iter()
            .map(|exchange| (exchange.latency.0, exchange.request_bytes, exchange.response_bytes))
            .collect();
        assert_eq!((seen, wire.uncertain.len()), (vec![(100, 5, 6), (100, 5, 6)], 0), "{role:?}");
    }
}

#[test]
fn a_response_older_than_its_request_is_counted() {
    let mut wire = asked();
    wire.at(99).receive(0, ANSWER, 0).at(300).close();
    assert_eq!((wire.completed.len(), wire.uncertain.as_slice()), (0, [Reason::NegativeDuration].as_slice()));
}

#[test]
fn data_that_crosses_a_request_is_not_its_answer() {
    // The other side sent it before the request had arrived: its acknowledgement does not cover the request.
    for (acknowledged, ends) in [(101, None), (106, Some(Outcome::Ok))] {
        let mut connection = Connection::default();
        connection.open(Role::Client);
        connection.established(101, 201);
        let segment = |now, direction, sequence, acknowledged| Segment {
            now: Timestamp(now),
            direction,
            sequence,
            length: 5,
            flags: TcpFlags::default(),
            acknowledged: Known::to_be(acknowledged),
            head: Head::Other,
            silent: false,
            received: Known::NOTHING,
        };
        connection.observe(&segment(100, Direction::Egress, 101, 201));
        connection.observe(&segment(110, Direction::Ingress, 201, acknowledged));
        let step = connection.close(Timestamp(300), Closed::Here);
        assert_eq!(step.completed().map(|completed| completed.outcome), ends);
        assert_eq!(step.uncertain().next(), if ends.is_none() { Some(Reason::Overlapping) } else { None });
    }
}
