//! What a turn costs. Run it with `cargo test --release -- --ignored --nocapture speed`: it asserts nothing.

use std::{hint::black_box, time::Instant};

use observer_common::Protocol;

use super::{Finding, KEPT, Messages, Turn, mysql, postgresql, redis::command};

#[test]
#[ignore = "prints times"]
fn speed() {
    let http = b"GET /api/v1/users/12345/orders?limit=10 HTTP/1.1\r\nHost: shop.example.org\r\nUser-Agent: curl/8.0\r\nAccept: */*\r\nX: y\r\n\r\n";
    let text = "SELECT abalance FROM pgbench_accounts WHERE aid = 4711;";
    let rows = [postgresql::message(b'T', &[0; 30]), postgresql::message(b'D', &[0; 20])].concat();
    let one = [postgresql::bind("", "7"), postgresql::describe(), postgresql::execute(), postgresql::sync()]
        .concat();
    let extended = [&postgresql::parse("", text)[..], &one].concat();
    let prepared =
        [postgresql::bind("P_0", "7"), postgresql::describe(), postgresql::execute(), postgresql::sync()]
            .concat();
    let update = "UPDATE pgbench_accounts SET abalance = abalance + 42 WHERE aid = 4711;";
    let cases: [(&str, Protocol, Vec<u8>, &[u8]); 10] = [
        (
            "http1",
            Protocol::Http1,
            http.to_vec(),
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5",
        ),
        ("redis GET", Protocol::Other, command(&["GET", "user:12345"]).into(), b"$5\r\nhello\r\n"),
        ("redis SET", Protocol::Other, command(&["SET", "user:12345", "some value"]).into(), b"+OK\r\n"),
        ("redis batch", Protocol::Other, command(&["GET", "k"]).repeat(20).into(), b"$5\r\nhello\r\n"),
        ("postgresql simple", Protocol::Other, postgresql::query(text), &rows),
        (
            "postgresql update",
            Protocol::Other,
            postgresql::query(update),
            b"C\0\0\0\x0dUPDATE 1\0Z\0\0\0\x05T",
        ),
        ("postgresql extended", Protocol::Other, extended, b"1\0\0\0\x042\0\0\0\x04"),
        ("postgresql prepared", Protocol::Other, prepared, b"2\0\0\0\x04"),
        ("mysql query", Protocol::Other, mysql::query(text), b"\x01\0\0\x01\x01"),
        ("unknown", Protocol::Other, vec![0x80; 100], &[1; 64]),
    ];
    for (name, protocol, request, response) in &cases {
        let mut messages = Messages::new();
        let turn = Turn {
            connection: 1,
            port: 9,
            protocol: *protocol,
            request: &request[..request.len().min(KEPT.0)],
            request_bytes: request.len() as u64,
            response: &response[..response.len().min(KEPT.1)],
            response_bytes: response.len() as u64,
            answered: true,
        };
        let best = (0..10).map(|_| {
            let rounds = 100_000;
            let start = Instant::now();
            for _ in 0..rounds {
                if let Finding::Exchange(description) = messages.describe(black_box(&turn)) {
                    black_box(description);
                }
            }
            start.elapsed().as_nanos() / rounds
        });
        println!("{name:20} {:4} ns", best.min().unwrap());
    }
}
