//! Turns between real programs, captured on loopback: PostgreSQL 15 with `pgbench` (simple, extended, prepared,
//! pipelined) and `psql`, Redis with `redis-benchmark` and `redis-cli`, memcached.
//!
//! A line of the file is: connection, kept request, its bytes, kept response, its bytes, what it is.

use observer_common::Protocol;

use super::{Found, LeftOut, Messages, Turn, exchange};

fn bytes(hexadecimal: &str) -> Vec<u8> {
    if hexadecimal == "-" {
        return Vec::new();
    }
    let digits = hexadecimal.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn expected(text: &str) -> Found {
    match text {
        "Handshake" => Found::LeftOut(LeftOut::Handshake),
        "Push" => Found::LeftOut(LeftOut::Push),
        "Streaming" => Found::LeftOut(LeftOut::Streaming),
        "Unanswered" => Found::LeftOut(LeftOut::Unanswered),
        _ => exchange(text),
    }
}

#[test]
fn captured_turns_are_read() {
    let mut messages = Messages::new();
    let mut connections: Vec<&str> = Vec::new();
    let mut turns = 0;
    for line in include_str!("captured.txt").lines() {
        let [connection, request, request_bytes, response, response_bytes, finding] =
            line.splitn(6, ' ').collect::<Vec<_>>().try_into().unwrap();
        let known = connections.iter().position(|&known| known == connection);
        let number = known.unwrap_or_else(|| {
            connections.push(connection);
            connections.len() - 1
        });
        let (request, response) = (bytes(request), bytes(response));
        let turn = Turn {
            connection: number as u64,
            port: 9,
            protocol: Protocol::Unknown,
            request: &request,
            request_bytes: request_bytes.parse().unwrap(),
            response: &response,
            response_bytes: response_bytes.parse().unwrap(),
            answered: !response.is_empty(),
        };
        assert_eq!(Found::of(messages.describe(&turn)), expected(finding), "{line}");
        turns += 1;
    }
    assert_eq!(turns, 108);
}
