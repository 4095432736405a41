//! memcached.

use super::{Found, LeftOut, Wire, exchange};

fn turn(request: &str, response: &str) -> Found {
    Wire::new().turn(request, response)
}

#[test]
fn commands_have_their_verb() {
    let long = format!("set k 0 0 300\r\n{}\r\n", "x".repeat(300));
    let many = format!("get {}\r\n", "some-key ".repeat(40));
    for (request, response, expected) in [
        ("get k\r\n", "VALUE k 0 1\r\na\r\nEND\r\n", "memcached get"),
        ("get a b c\r\n", "END\r\n", "memcached get"),
        ("set k 0 0 5\r\nhello\r\n", "STORED\r\n", "memcached set"),
        (&long, "STORED\r\n", "memcached set"),
        (&many, "END\r\n", "memcached get…"),
        ("incr k 1\r\n", "42\r\n", "memcached incr"),
        ("delete k\r\n", "NOT_FOUND\r\n", "memcached delete"),
        ("mg k v\r\n", "VA 1\r\na\r\n", "memcached mg"),
        ("mg k v\r\n", "EN\r\n", "memcached mg"),
        ("ms k 2\r\nhi\r\n", "HD\r\n", "memcached ms"),
        ("get k\r\n", "ERROR\r\n", "memcached get = ERROR!"),
        ("set k 0 0 1\r\na\r\n", "SERVER_ERROR out of memory\r\n", "memcached set = SERVER_ERROR!"),
        ("set k 0 0 1\r\na\r\n", "CLIENT_ERROR bad data chunk\r\n", "memcached set = CLIENT_ERROR!"),
        ("get a\r\nget b\r\n", "END\r\nEND\r\n", "memcached batch get"),
        ("get a\r\nset b 0 0 1\r\nx\r\n", "END\r\nSTORED\r\n", "memcached batch"),
        ("mg a v q\r\nmg b v q\r\nmn\r\n", "MN\r\n", "memcached batch mg"),
    ] {
        assert_eq!(turn(request, response), exchange(expected), "{request}");
    }
    let many = format!("{}{}", long, "get k\r\n".repeat(3));
    assert_eq!(turn(&many, "STORED\r\n"), exchange("memcached batch set…"));
}

#[test]
fn a_command_alone_is_not_enough() {
    for (request, response) in [("get k\r\n", ""), ("get k\r\n", "hello\r\n"), ("stats\r\n", "+OK\r\n")] {
        assert_eq!(turn(request, response).protocol(), None, "{request}");
    }
}

#[test]
fn silence_is_no_answer() {
    let mut wire = Wire::new();
    assert_eq!(wire.turn("version\r\n", "VERSION 1.6.18\r\n"), exchange("memcached version"));
    let unanswered = Found::LeftOut(LeftOut::Unanswered);
    assert_eq!(wire.turn("set k 0 0 1 noreply\r\nx\r\n", ""), unanswered);
    // When the command that is answered was sent is not known.
    assert_eq!(wire.turn("set a 0 0 1 noreply\r\nx\r\nget a\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n"), unanswered);
    assert_eq!(wire.turn("get k\r\n", ""), exchange("memcached get"));
    assert_eq!(wire.turn("\u{1}binary", "END\r\n"), Found::LeftOut(LeftOut::Overlapping));
    assert_eq!(wire.turn("frobnicate\r\n", "ERROR\r\n"), exchange("memcached = ERROR!"));
    assert_eq!(wire.turn("quit\r\n", ""), unanswered);
    assert_eq!(wire.turn("watch fetchers\r\n", "OK\r\n"), Found::LeftOut(LeftOut::Push));
    assert_eq!(wire.turn("get k\r\n", "ts=1\r\n"), Found::LeftOut(LeftOut::Push));
}
