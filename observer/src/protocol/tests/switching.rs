//! Connections whose protocol turns out otherwise, and those that say nothing.

use observer_common::Protocol;

use super::{Found, LeftOut, Wire, exchange, mysql, postgresql, redis::command};

fn sizes(class: &str) -> Found {
    Found::Exchange { protocol: None, class: Some(class.into()), status: None, failed: false }
}

#[test]
fn unknown_bytes_are_told_apart_by_size() {
    let mut wire = Wire::new();
    assert_eq!(wire.turn([0x80; 100], [1; 2_000]), sizes("64B→1KiB"));
    assert_eq!(wire.turn("", "hello"), sizes("0B→4B"));
    assert_eq!(wire.turn("", ""), sizes("0B→0B"));
    wire.protocol = Protocol::Other;
    assert_eq!(wire.turn("hello", "world"), sizes("4B→4B"));
}

#[test]
fn encrypted_bytes_are_told_apart_by_size() {
    let mut wire = Wire::new();
    wire.protocol = Protocol::Tls;
    let handshake = Found::LeftOut(LeftOut::Handshake);
    assert_eq!(wire.turn(b"\x16\x03\x01\x02\0\x01", b"\x16\x03\x03\0\x7a\x02"), handshake);
    assert_eq!(wire.turn(b"\x14\x03\x03\0\x01\x01\x17\x03\x03", b"\x17\x03\x03\0\x7a\x02"), handshake);
    assert_eq!(wire.turn(b"\x17\x03\x03\0\x7a\x02", b"\x17\x03\x03\0\x7a\x02"), exchange("tls 4B→4B"));
    assert_eq!(wire.turn(b"in the middle", b"of a record"), exchange("tls 8B→8B"));
    wire.protocol = Protocol::Unknown;
    assert_eq!(wire.turn(b"\x17\x03\x03\0\x7a\x02", b"\x17\x03\x03\0\x7a\x02"), exchange("tls 4B→4B"));
}

#[test]
fn another_protocol_is_believed_at_once() {
    let mut wire = Wire::new();
    assert_eq!(wire.turn(command(&["GET", "k"]), "$-1\r\n"), exchange("redis GET"));
    assert_eq!(wire.turn(mysql::query("COMMIT"), ""), exchange("mysql COMMIT"));
    assert_eq!(wire.turn(postgresql::query("COMMIT"), ""), exchange("postgresql COMMIT"));
    assert_eq!(
        wire.turn("GET /a HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"),
        exchange("http1 GET /a = 200")
    );
}

#[test]
fn what_contradicts_again_and_again_is_forgotten() {
    let mut wire = Wire::new();
    let overlapping = Found::LeftOut(LeftOut::Overlapping);
    assert_eq!(wire.turn(postgresql::query("COMMIT"), ""), exchange("postgresql COMMIT"));
    for _ in 0..3 {
        assert_eq!(wire.turn("what is this?", "no answer"), overlapping);
    }
    assert_eq!(wire.turn("what is this?", "no answer"), sizes("8B→8B"));
    assert_eq!(wire.messages.connections(), 0);
}

#[test]
fn a_line_that_the_kernel_took_for_http_may_be_another() {
    let mut wire = Wire::new();
    wire.protocol = Protocol::Http1;
    assert_eq!(wire.turn("GET key\r\n", "$-1\r\n"), exchange("redis GET"));
    assert_eq!(wire.turn("GET key\r\n", ""), exchange("redis GET"));
}

#[test]
fn classes_are_bounded() {
    let mut wire = Wire::new();
    for number in 0..5_000 {
        // Letters only: nothing that a template would replace.
        let name: String =
            format!("{number:04}").bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
        let found = wire.turn(format!("GET /{name} HTTP/1.1\r\n\r\n"), "HTTP/1.1 200 OK\r\n\r\n");
        let expected =
            if number < 200 { format!("http1 GET /{name} = 200") } else { "http1 other = 200".into() };
        assert_eq!(found, exchange(&expected));
    }
    assert_eq!(
        wire.turn(command(&["GET", "k"]), "$-1\r\n"),
        exchange("redis GET"),
        "each protocol has its own"
    );
}

#[test]
fn statements_are_bounded() {
    let mut wire = Wire::new();
    for number in 0..1_000 {
        let prepare = [postgresql::parse(&format!("s{number}"), "COMMIT"), postgresql::sync()].concat();
        wire.turn(prepare, postgresql::message(b'1', b""));
    }
    assert_eq!(wire.messages.connection(1).unwrap().statements.len(), 64);
    let run = |name| [postgresql::bind(name, ""), postgresql::execute(), postgresql::sync()].concat();
    assert_eq!(wire.turn(run("s999"), postgresql::message(b'2', b"")), exchange("postgresql COMMIT"));
    assert_eq!(wire.turn(run("s0"), postgresql::message(b'2', b"")), exchange("postgresql"));
}
