//! What messages begin with decides: answers of HTTP/1 in pieces, requests that came with the handshake, headers of a
//! proxy.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use observer_common::{Nanoseconds, Outcome, Protocol, Reason, Role, Route};
use proptest::{collection::vec, prelude::*};

#[expect(dead_code, reason = "other tests need more of it")]
mod wire;

use wire::Wire;

const GET: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";
const BUSY: &[u8] = b"HTTP/1.1 503 Busy\r\n\r\n";
const HELLO: &[u8] = b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\0";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x80";
const PROXY: &[u8] = b"PROXY TCP4 10.0.0.1 10.0.0.2 40000 80\r\n";
const PROXY_2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\0\0\x01\x0a\0\0\x02\x9c\x40\0\x50";

/// A client and what it has asked and been answered, one segment after the other, 10 apart.
struct Talk {
    wire: Wire,
    asked: u32,
    answered: u32,
}

impl Talk {
    fn new(role: Role) -> Self {
        Self { wire: Wire::new(role, 1_000, 2_000), asked: 0, answered: 0 }
    }

    fn say(&mut self, asks: bool, payload: &[u8]) -> &mut Self {
        let now = self.wire.now + 10;
        let position = if asks { &mut self.asked } else { &mut self.answered };
        let at = *position;
        *position += u32::try_from(payload.len()).unwrap_or_default();
        if asks == (self.wire.connection.role == Role::Client) {
            self.wire.at(now).send(at, payload, 0);
        } else {
            self.wire.at(now).receive(at, payload, 0);
        }
        self
    }

    fn ask(&mut self, payload: &[u8]) -> &mut Self {
        self.say(true, payload)
    }

    fn answer(&mut self, payload: &[u8]) -> &mut Self {
        self.say(false, payload)
    }

    /// What took how long, and what was left out.
    fn end(&mut self) -> (Vec<(Protocol, u64)>, &[Reason]) {
        self.wire.close();
        let seen = self.wire.completed.iter().map(|exchange| {
            assert_eq!(exchange.complete, exchange.latency);
            (exchange.protocol, exchange.latency)
        });
        let seen = seen.map(|(protocol, Nanoseconds(latency))| (protocol, latency)).collect();
        (seen, &self.wire.uncertain)
    }
}

const ROLES: [Role; 2] = [Role::Client, Role::Server];

/// Whether a head in pieces is an interim one, nobody can tell.
#[test]
fn an_interim_response_in_pieces_is_no_answer() {
    let pieces: [&[&[u8]]; 5] = [
        &[b"HTTP/1.1 100 Con", b"tinue\r\n\r\n"],
        &[b"HTTP/1.1 ", b"100 Continue\r\n\r\n"],
        &[b"H", b"TTP/1.1 100 Continue\r\n\r\n"],
        &[b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n", b"\r\n"],
        &[b"HTTP/1.1 103 Early Hints\r\n", b"Link: a, and some more\r\n\r\n"],
    ];
    for role in ROLES {
        for pieces in pieces {
            for body in [b"body".as_slice(), b"a longer body of the request"] {
                let mut talk = Talk::new(role);
                talk.ask(GET).answer(OK).ask(b"POST / HTTP/1.1\r\n\r\n");
                for piece in pieces {
                    talk.answer(piece);
                }
                talk.ask(body).answer(OK).ask(GET).answer(OK);
                let (seen, left_out) = talk.end();
                assert_eq!(seen, [(Protocol::Http1, 10); 2], "{pieces:?}");
                assert!(matches!(
                    left_out,
                    [Reason::Overlapping] | [Reason::Overlapping, Reason::Overlapping]
                ));
            }
        }
    }
}

/// The connection's first answer, too.
#[test]
fn a_status_line_in_pieces_is_counted() {
    for role in ROLES {
        let mut talk = Talk::new(role);
        talk.ask(GET).answer(b"HTTP/1.1 2").answer(b"00 OK\r\n\r\n").ask(GET).answer(OK);
        assert_eq!(talk.end(), (vec![(Protocol::Http1, 10)], [Reason::Overlapping].as_slice()));
    }
}

/// Redis takes lines that look like a request of HTTP, and answers them with few bytes.
#[test]
fn a_short_answer_may_be_none_of_http() {
    let mut talk = Talk::new(Role::Client);
    talk.ask(b"GET some:key\r\n").answer(b"$-1\r\n").ask(b"GET some:key\r\n").answer(b"$-1\r\n");
    assert_eq!(talk.end(), (vec![(Protocol::Other, 10); 2], [].as_slice()));
}

/// A server whose first request came with the handshake.
fn unseen(request: &[u8]) -> Talk {
    let mut talk = Talk::new(Role::Server);
    talk.wire.unseen = true;
    talk.ask(request);
    talk.wire.unseen = false;
    talk
}

#[test]
fn the_answer_tells_what_came_with_the_handshake() {
    let mut http = unseen(GET);
    http.answer(BUSY);
    assert_eq!(http.wire.connection.status, 503);
    http.ask(GET).answer(OK);
    assert_eq!(http.end(), (vec![(Protocol::Http1, 10); 2], [].as_slice()));

    let mut other = unseen(b"ask for something");
    other.answer(b"something that is no HTTP").ask(b"ask for more").answer(b"more");
    assert_eq!(other.end(), (vec![(Protocol::Unknown, 10); 2], [].as_slice()));

    let mut tls = unseen(HELLO);
    tls.answer(HELLO).ask(HELLO).answer(HELLO).ask(HELLO);
    assert_eq!(tls.end(), (vec![], [Reason::Handshake, Reason::Tls, Reason::Tls].as_slice()));

    let mut http2 = unseen(PREFACE);
    http2.answer(SETTINGS);
    assert_eq!(http2.wire.connection.route(), Route::Frames);
    assert_eq!(http2.end(), (vec![], [].as_slice()));
}

#[test]
fn requests_that_overlap_one_that_came_with_the_handshake_are_counted() {
    let mut talk = unseen(GET);
    talk.ask(GET).answer(OK).answer(OK).ask(GET).answer(OK);
    assert_eq!(talk.end(), (vec![], [Reason::Overlapping; 2].as_slice()));
}

/// The connection begins behind it.
#[test]
fn a_proxy_header_is_no_request() {
    for role in ROLES {
        for header in [PROXY, PROXY_2] {
            let mut http = Talk::new(role);
            http.ask(header).ask(GET).answer(OK).ask(GET).answer(OK);
            assert_eq!(http.end(), (vec![(Protocol::Http1, 10); 2], [].as_slice()));

            for (first, route) in [(HELLO, Route::Records), (PREFACE, Route::Frames)] {
                let mut talk = Talk::new(role);
                talk.ask(header).ask(first);
                assert_eq!(talk.wire.connection.route(), route);
            }

            // Whether it goes on with what came with the header, nobody can tell.
            let mut other = Talk::new(role);
            other.ask(header).ask(b"ask").answer(b"answer").ask(b"ask").answer(b"answer");
            assert_eq!(other.end(), (vec![(Protocol::Unknown, 10)], [Reason::Overlapping].as_slice()));
        }
    }
}

#[test]
fn a_request_in_one_segment_with_a_proxy_header_is_left_out() {
    for role in ROLES {
        let together = |request: &[u8]| {
            let mut talk = Talk::new(role);
            talk.ask(&[PROXY, request].concat());
            talk
        };
        let mut http = together(GET);
        http.answer(OK).ask(GET).answer(OK);
        assert_eq!(http.end(), (vec![(Protocol::Http1, 10)], [Reason::Overlapping].as_slice()));

        let mut tls = together(HELLO);
        tls.answer(HELLO).ask(HELLO).answer(HELLO);
        assert_eq!(tls.end(), (vec![], [Reason::Handshake, Reason::Tls].as_slice()));

        let mut http2 = together(PREFACE);
        http2.answer(SETTINGS);
        assert_eq!(http2.wire.connection.route(), Route::Frames);
    }
}

/// An answer: interim responses, then the final one.
fn answers() -> impl Strategy<Value = (Vec<u8>, usize)> {
    let interim = prop_oneof![
        Just("HTTP/1.1 100 Continue\r\n\r\n"),
        Just("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    ];
    vec(interim, 0..3).prop_map(|interim| {
        let interim = interim.concat().into_bytes();
        let at = interim.len();
        ([interim, OK.to_vec()].concat(), at)
    })
}

proptest! {
    /// However answers are cut into segments: what is measured ended with the first byte of the final one.
    #[test]
    fn no_interim_response_is_an_answer(
        role in prop_oneof![Just(Role::Client), Just(Role::Server)],
        turns in vec((answers(), vec(0_usize..80, 0..4)), 1..6),
    ) {
        let mut talk = Talk::new(role);
        let mut truth = Vec::new();
        for ((answer, last), mut cuts) in turns {
            talk.ask(GET);
            let start = talk.wire.now;
            cuts.retain(|&cut| 0 < cut && cut < answer.len());
            cuts.extend([0, answer.len()]);
            cuts.sort_unstable();
            cuts.dedup();
            let mut first = None;
            for piece in cuts.windows(2) {
                talk.answer(&answer[piece[0]..piece[1]]);
                first = first.or((piece[1] > last).then_some(talk.wire.now - start));
            }
            truth.push((start, first, talk.wire.now - start));
        }
        talk.wire.close();
        for exchange in &talk.wire.completed {
            let seen = (exchange.start.0, Some(exchange.latency.0), exchange.complete.0);
            // The last one may still wait, as far as anybody can tell.
            let waits = exchange.outcome != Outcome::Ok;
            prop_assert!(waits || truth.contains(&seen), "{seen:?} is none of {truth:?}");
        }
    }
}
