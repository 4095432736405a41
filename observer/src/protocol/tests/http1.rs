//! HTTP/1.

use observer_common::Protocol;

use super::{Found, LeftOut, Wire, exchange};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

fn turn(request: &str, response: &str) -> Found {
    Wire::new().turn(request, response)
}

#[test]
fn requests_have_method_and_template() {
    for (request, expected) in [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "http1 GET / = 200"),
        ("GET /users/42?x=1 HTTP/1.0\r\n\r\n", "http1 GET /users/{n} = 200"),
        ("PROPFIND /dav/7 HTTP/1.1\r\nHost: a\r\n\r\n", "http1 PROPFIND /dav/{n} = 200"),
        ("OPTIONS * HTTP/1.1\r\n\r\n", "http1 OPTIONS * = 200"),
        ("CONNECT example.org:443 HTTP/1.1\r\n\r\n", "http1 CONNECT = 200"),
        ("GET http://example.org/a/1 HTTP/1.1\r\n\r\n", "http1 GET /a/{n} = 200"),
        ("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "http1 POST /a = 200"),
    ] {
        assert_eq!(turn(request, OK), exchange(expected), "{request}");
    }
}

#[test]
fn the_status_says_whether_it_failed() {
    for (response, expected) in [
        ("HTTP/1.1 404 Not Found\r\n\r\n", "http1 GET /a = 404"),
        ("HTTP/1.1 429 Too Many Requests\r\n\r\n", "http1 GET /a = 429!"),
        ("HTTP/1.1 503 Service Unavailable\r\n\r\n", "http1 GET /a = 503!"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 500 Oh\r\n\r\n", "http1 GET /a = 500!"),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style; and so on and on",
            "http1 GET /a",
        ),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "http1 GET /a = 101"),
        ("", "http1 GET /a"),
    ] {
        assert_eq!(turn("GET /a HTTP/1.1\r\n\r\n", response), exchange(expected), "{response}");
    }
}

#[test]
fn what_is_sent_together_is_a_batch() {
    let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    let post = "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
    for (request, expected) in [
        (get.repeat(2), "http1 batch GET = 200"),
        ([post, get].concat(), "http1 batch = 200"),
        ([post, post].concat(), "http1 batch POST = 200"),
        (get.repeat(20), "http1 batch GET… = 200"),
        ([get, post, &get.repeat(20)].concat(), "http1 batch = 200"),
        // A long head hides what follows it.
        (format!("GET /a HTTP/1.1\r\nCookie: {}\r\n\r\n{get}", "x".repeat(200)), "http1 GET /a = 200"),
    ] {
        assert_eq!(turn(&request, OK), exchange(expected), "{request}");
    }
}

#[test]
fn a_long_target_ends_in_a_mark() {
    let request = format!("GET /api/v1/search/{} HTTP/1.1\r\n\r\n", "x".repeat(300));
    assert_eq!(turn(&request, OK), exchange("http1 GET /api/v1/search/… = 200"));
    assert_eq!(
        Wire::new().turn(&request, ""),
        Found::Exchange { protocol: None, class: Some("256B→0B".into()), status: None, failed: false }
    );
    let mut wire = Wire::new();
    wire.protocol = Protocol::Http1;
    assert_eq!(wire.turn(&request, ""), exchange("http1 GET /api/v1/search/…"));
}

#[test]
fn the_rest_of_a_body_is_no_request() {
    let mut wire = Wire::new();
    wire.protocol = Protocol::Http1;
    assert_eq!(wire.turn("and the rest of it", OK), Found::LeftOut(LeftOut::Overlapping));
}

/// The beginning of a request that came with the handshake is not seen; its answer is.
#[test]
fn an_answer_without_its_request_has_its_status() {
    let mut wire = Wire::new();
    wire.protocol = Protocol::Http1;
    let busy = "HTTP/1.1 503 Busy\r\n\r\n";
    let expected =
        Found::Exchange { protocol: Some("http1"), class: None, status: Some("503".into()), failed: true };
    assert_eq!(wire.turn_kept(b"GET /a HTTP/1.1\r\n\r\n", busy.as_bytes(), 0), expected);
    assert_eq!(wire.turn_kept(b"GET /a HTTP/1.1\r\n\r\n", b"something", 0).protocol(), None);
}

/// With some answers still to come, the next request is sent: whose answer comes then, nobody knows.
#[test]
fn behind_a_batch_fewer_requests_are_not_trusted() {
    let get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    let left_out = Found::LeftOut(LeftOut::Overlapping);
    for protocol in [Protocol::Http1, Protocol::Unknown] {
        let mut wire = Wire::new();
        wire.protocol = protocol;
        assert_eq!(wire.turn(get, OK), exchange("http1 GET /a = 200"));
        for _ in 0..3 {
            assert_eq!(wire.turn(get.repeat(4), OK), exchange("http1 batch GET = 200"));
        }
        assert_eq!(wire.turn(get, OK), left_out);
        assert_eq!(wire.turn(get.repeat(4), OK), left_out, "never again");
    }
}
