//! What real clients and servers said to each other, on one connection of the loopback interface each.
//!
//! Every line is one segment: who sent it, when in microseconds, and its bytes. `grpc.txt` is grpcio 1.85 for Python on
//! both sides, `node.txt` the `http2` module of Node.js 20 (nghttp2).

use observer_common::Role;

use super::{
    conversation::{Side, Told, direction},
    walker::Walker,
};
use crate::http2::{LeftOut, Streams};

struct Segment {
    side: Side,
    now: u64,
    bytes: Vec<u8>,
}

fn recording(text: &str) -> Vec<Segment> {
    let mut segments: Vec<Segment> = text
        .lines()
        .map(|line| {
            let [side, now, hex]: [&str; 3] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            Segment {
                side: if side == "C" { Side::Client } else { Side::Server },
                now: now.parse::<u64>().unwrap() * 1000,
                bytes: (0..hex.len()).step_by(2).map(byte).collect(),
            }
        })
        .collect();
    // The connection preface (RFC 9113, section 3.4) is no frame.
    let first = segments.iter_mut().find(|segment| segment.side == Side::Client).unwrap();
    assert!(first.bytes.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    first.bytes.drain(..24);
    segments
}

fn replay(segments: &[Segment], from_the_start: bool, role: Role, length: usize) -> Vec<Told> {
    let mut streams = Streams::new(role, from_the_start);
    let mut walkers = [Walker::default(), Walker::default()];
    let mut told = Vec::new();
    for Segment { side, now, bytes } in segments {
        for part in bytes.chunks(length) {
            walkers[*side as usize].segment(*now, direction(role, *side), part, &mut |frame| {
                streams.observe(frame, &mut |event| told.push(event.into()));
            });
        }
    }
    told
}

/// Class, status, outcome, and `!` where it is a failure.
fn summary(told: &[Told]) -> Vec<String> {
    told.iter()
        .map(|event| match event {
            Told::Exchange(exchange) => format!(
                "{} {} {} {}{}",
                exchange.stream,
                exchange.class.as_deref().unwrap_or("-"),
                exchange.status.as_deref().unwrap_or("-"),
                exchange.outcome.name(),
                if exchange.failed { "!" } else { "" }
            ),
            Told::LeftOut(stream, reason) => format!("{stream} {reason:?}"),
        })
        .collect()
}

#[test]
fn grpc() {
    let recording = recording(include_str!("recorded/grpc.txt"));
    let told = replay(&recording, true, Role::Client, usize::MAX);
    assert_eq!(
        summary(&told),
        [
            "1 /shop.Cart/Add 0 OK ok",
            "3 /shop.Cart/Add 0 OK ok",
            "5 /shop.Cart/Add 0 OK ok",
            "7 /shop.Cart/Add 0 OK ok",
            "9 /shop.Cart/Add 0 OK ok",
            "11 /shop.Cart/Fail 5 NOT_FOUND ok",
            "13 /shop.Cart/Boom 2 UNKNOWN ok!",
            "15 /shop.Cart/None 12 UNIMPLEMENTED ok!",
            "17 /shop.Cart/Slow 4 DEADLINE_EXCEEDED ok!",
            "19 Streaming",
            "25 /shop.Cart/Add 0 OK ok",
            "27 /shop.Cart/Add 0 OK ok",
            "29 /shop.Cart/Add 0 OK ok",
            "21 /shop.Cart/Slow 0 OK ok",
            "23 /shop.Cart/Slow 0 OK ok",
            "31 /shop.Cart/Slow - cancelled",
            "33 /shop.Cart/Add 0 OK ok",
        ]
    );
    for length in [20, 50, 100] {
        assert_eq!(replay(&recording, true, Role::Client, length), told);
    }
}

#[test]
fn http() {
    let recording = recording(include_str!("recorded/node.txt"));
    let told = replay(&recording, true, Role::Server, usize::MAX);
    assert_eq!(
        summary(&told),
        [
            "2 Push",
            "1 GET /a/{n} 200 ok",
            "3 GET /err1 503 ok!",
            "5 GET /no2 418 ok",
            "7 GET /early/x3 200 ok",
            "9 GET /push/me4 200 ok",
            "13 GET /a/{n} 200 ok",
            "15 GET /err2 503 ok!",
            "11 GET /slow/{n} 200 ok",
        ]
    );
    for length in [1, 2, 3, 10, 100] {
        assert_eq!(replay(&recording, true, Role::Server, length), told);
    }
}

#[test]
fn an_observer_that_comes_late_tells_nothing_else() {
    for text in [include_str!("recorded/grpc.txt"), include_str!("recorded/node.txt")] {
        let recording = recording(text);
        let truth = replay(&recording, true, Role::Client, usize::MAX);
        for begin in 1..recording.len() {
            for event in replay(&recording[begin..], false, Role::Client, usize::MAX) {
                let Told::Exchange(exchange) = event else { continue };
                let same = |event: &&Told| match event {
                    Told::Exchange(known) => {
                        (known.stream, known.start, known.sent, known.latency, known.complete)
                            == (
                                exchange.stream,
                                exchange.start,
                                exchange.sent,
                                exchange.latency,
                                exchange.complete,
                            )
                            && (exchange.class.is_none() || exchange.class == known.class)
                    }
                    // Nobody knows that it is a gRPC call.
                    Told::LeftOut(stream, reason) => {
                        *stream == exchange.stream && *reason == LeftOut::Streaming && !exchange.grpc
                    }
                };
                assert_eq!(truth.iter().filter(same).count(), 1, "from {begin}: {exchange:?}");
            }
        }
    }
}
