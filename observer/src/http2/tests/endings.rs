//! Streams and connections that are given up.

use observer_common::{Outcome, Role};

use super::conversation::{Conversation, Exchange, Side, Told, close, exchanges, feed, observe};
use crate::http2::{LeftOut, Streams, flag, kind};

const CANCEL: u32 = 8;
const REFUSED_STREAM: u32 = 7;

fn one(conversation: &Conversation) -> Exchange {
    let mut exchanges = conversation.exchanges();
    assert_eq!(exchanges.len(), 1);
    exchanges.remove(0)
}

#[test]
fn a_client_that_gives_up() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C").reset(Side::Client, 1, CANCEL);
    let exchange = one(&conversation);
    assert_eq!((exchange.outcome, exchange.latency), (Outcome::Cancelled, 20));
    assert_eq!((exchange.complete, exchange.failed), (None, false));
    // What "cancelled" means is seen from the observed side.
    let seen = exchanges(&observe(Role::Server, true, &conversation.said));
    assert_eq!(seen[0].outcome, Outcome::Reset);
}

#[test]
fn a_server_that_refuses() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C").reset(Side::Server, 1, REFUSED_STREAM);
    let exchange = one(&conversation);
    assert_eq!((exchange.outcome, exchange.failed, exchange.latency), (Outcome::Reset, true, 20));
    let seen = exchanges(&observe(Role::Server, true, &conversation.said));
    assert_eq!((seen[0].outcome, seen[0].failed), (Outcome::Cancelled, true));
}

#[test]
fn a_client_that_has_read_enough() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/").status(1, 0, "200").data(Side::Server, 1, 0, b"much");
    conversation.reset(Side::Client, 1, CANCEL).data(Side::Server, 1, flag::END_STREAM, b"more");
    let exchange = one(&conversation);
    assert_eq!((exchange.outcome, exchange.latency), (Outcome::Ok, 10));
    assert_eq!((exchange.complete, exchange.failed), (None, false));
}

#[test]
fn a_server_that_breaks_off() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/").status(1, 0, "200").reset(Side::Server, 1, 2);
    let exchange = one(&conversation);
    assert_eq!((exchange.outcome, exchange.complete, exchange.failed), (Outcome::Ok, None, true));
}

#[test]
fn a_server_that_needs_no_more() {
    let mut conversation = Conversation::new();
    let fields = [(":method", "POST"), (":scheme", "http"), (":path", "/upload")];
    conversation.headers(Side::Client, 1, 0, &fields).status(1, flag::END_STREAM, "200");
    conversation.reset(Side::Server, 1, 0).data(Side::Client, 1, 0, b"late");
    let exchange = one(&conversation);
    assert_eq!((exchange.outcome, exchange.complete, exchange.failed), (Outcome::Ok, Some(10), false));
}

#[test]
fn a_server_that_goes_away() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C").call(3, "/a.B/D").call(5, "/a.B/E");
    conversation.frame(Side::Server, kind::GOAWAY, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    assert_eq!(conversation.events(), []);
    conversation.frame(Side::Server, kind::GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0]);
    conversation.answer(1).trailers(1, "0").call(7, "/a.B/F");
    let exchanges = conversation.exchanges();
    let outcomes: Vec<_> =
        exchanges.iter().map(|ended| (ended.stream, ended.outcome, ended.failed)).collect();
    let refused = Outcome::Reset;
    assert_eq!(outcomes, [(5, refused, true), (1, Outcome::Ok, false), (7, refused, true)]);
    // The client's own GOAWAY is about pushes.
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C").frame(Side::Client, kind::GOAWAY, 0, 0, &[0; 8]);
    assert_eq!(conversation.events(), []);
}

#[test]
fn a_connection_that_ends() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C").call(3, "/a.B/D").answer(3).call(5, "/a.B/E").answer(5).trailers(5, "0");
    for outcome in [Outcome::Cancelled, Outcome::Reset, Outcome::Timeout] {
        let mut streams = Streams::new(Role::Client, true);
        let mut told = Vec::new();
        let whole = &mut |_| Vec::new();
        feed(&mut streams, Role::Client, &conversation.said, &mut told, whole, &mut |_| true);
        assert_eq!(told.len(), 1);
        let rest = exchanges(&close(&mut streams, 5010, outcome));
        assert_eq!((rest[0].outcome, rest[0].latency), (outcome, 4000));
        assert_eq!((rest[1].outcome, rest[1].latency, rest[1].complete), (Outcome::Ok, 20, None));
        assert_eq!(close(&mut streams, 5010, outcome), []);
    }
}

#[test]
fn a_push_is_counted_and_keeps_the_compression_right() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/");
    for promised in [2_u32, 4] {
        let mut payload = vec![3];
        payload.extend(promised.to_be_bytes());
        payload.extend(conversation.encode(Side::Server, &[(":path", "/pushed"), ("x-pushed", "yes")]));
        payload.extend([0; 3]);
        let flags = flag::END_HEADERS | flag::PADDED;
        conversation.frame(Side::Server, kind::PUSH_PROMISE, flags, 1, &payload);
    }
    conversation.status(2, 0, "200").data(Side::Server, 2, flag::END_STREAM, b"pushed");
    conversation.headers(Side::Server, 1, flag::END_STREAM, &[(":status", "299"), ("x-pushed", "yes")]);
    let mut events = conversation.events();
    let Some(Told::Exchange(exchange)) = events.pop() else { panic!("no exchange") };
    assert_eq!(exchange.status.as_deref(), Some("299"));
    assert_eq!(events, [Told::LeftOut(2, LeftOut::Push), Told::LeftOut(4, LeftOut::Push)]);
}
