//! What is paired, and what is said about it.

use observer_common::{Outcome, Role, Timestamp};

use super::conversation::{Conversation, Exchange, Side, Told, exchanges, feed, observe};
use crate::http2::{LeftOut, Streams, flag};

#[test]
fn a_unary_call() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/shop.Cart/Add").answer(1).trailers(1, "0");
    let request = conversation.said[0].bytes.len() + conversation.said[1].bytes.len() - 18;
    let response: usize = conversation.said[2..].iter().map(|said| said.bytes.len() - 9).sum();
    assert_eq!(
        conversation.exchanges(),
        [Exchange {
            stream: 1,
            number: 1,
            start: 1010,
            sent: 10,
            latency: 20,
            complete: Some(40),
            outcome: Outcome::Ok,
            class: Some("/shop.Cart/Add".into()),
            status: Some("0 OK".into()),
            failed: false,
            grpc: true,
            bytes: (request as u64, response as u64),
        }]
    );
}

#[test]
fn an_http_request() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/items?page=3").status(1, 0, "200");
    conversation.data(Side::Server, 1, 0, b"one").data(Side::Server, 1, flag::END_STREAM, b"");
    let exchange = conversation.exchanges().remove(0);
    assert_eq!(exchange.class.as_deref(), Some("GET /items"));
    assert_eq!(exchange.status.as_deref(), Some("200"));
    assert_eq!((exchange.sent, exchange.latency, exchange.complete), (0, 10, Some(30)));
    assert!(!exchange.grpc && !exchange.failed);
}

#[test]
fn failures_are_told() {
    for (status, failed) in [("200", false), ("404", false), ("429", true), ("500", true), ("503", true)] {
        let mut conversation = Conversation::new();
        conversation.get(1, "/").status(1, flag::END_STREAM, status);
        let exchange = conversation.exchanges().remove(0);
        assert_eq!((exchange.status.as_deref(), exchange.failed), (Some(status), failed));
    }
    for (code, text, failed) in [("5", "5 NOT_FOUND", false), ("13", "13 INTERNAL", true)] {
        let mut conversation = Conversation::new();
        conversation.call(1, "/a.B/C").answer(1).trailers(1, code);
        let exchange = conversation.exchanges().remove(0);
        assert_eq!((exchange.status.as_deref(), exchange.failed), (Some(text), failed));
    }
}

#[test]
fn trailers_only() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C");
    let fields = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "14")];
    conversation.headers(Side::Server, 1, flag::END_STREAM, &fields);
    let exchange = conversation.exchanges().remove(0);
    assert_eq!((exchange.latency, exchange.complete), (20, Some(20)));
    assert_eq!((exchange.status.as_deref(), exchange.failed), (Some("14 UNAVAILABLE"), true));
}

#[test]
fn a_proxy_answers_a_call_in_its_own_words() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C").status(1, flag::END_STREAM, "503");
    let exchange = conversation.exchanges().remove(0);
    assert_eq!((exchange.status.as_deref(), exchange.failed, exchange.grpc), (Some("503"), true, true));
}

#[test]
fn interim_responses_are_no_answer() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/").status(1, 0, "100").status(1, 0, "103").status(1, flag::END_STREAM, "200");
    let exchange = conversation.exchanges().remove(0);
    assert_eq!((exchange.latency, exchange.status.as_deref()), (30, Some("200")));
}

#[test]
fn hundreds_of_interleaved_streams() {
    let mut conversation = Conversation::new();
    for stream in 0..400 {
        conversation.call(2 * stream + 1, &format!("/a.B/C{}", stream % 7));
        // Every third one is answered at once, the others in a scrambled order later.
        if stream % 3 == 0 {
            conversation.answer(2 * stream + 1).trailers(2 * stream + 1, "0");
        }
    }
    for step in 0..400_u32 {
        let stream = step * 271 % 400;
        if stream % 3 != 0 {
            conversation.answer(2 * stream + 1);
        }
    }
    for step in 0..400_u32 {
        let stream = step * 37 % 400;
        if stream % 3 != 0 {
            conversation.trailers(2 * stream + 1, "5");
        }
    }
    let mut exchanges = conversation.exchanges();
    exchanges.sort_by_key(|exchange| exchange.stream);
    assert_eq!(exchanges.len(), 400);
    for (index, exchange) in (0_u32..).zip(&exchanges) {
        assert_eq!(exchange.stream, 2 * index + 1);
        assert_eq!(exchange.number, index + 1);
        assert_eq!(exchange.class, Some(format!("/a.B/C{}", index % 7)));
        assert_eq!(exchange.status.as_deref(), Some(if index % 3 == 0 { "0 OK" } else { "5 NOT_FOUND" }));
        assert!(exchange.latency >= 20 && exchange.complete > Some(exchange.latency));
    }
}

#[test]
fn the_server_sees_the_same() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C").get(3, "/x").answer(1).status(3, flag::END_STREAM, "200").trailers(1, "0");
    assert_eq!(exchanges(&observe(Role::Server, true, &conversation.said)), conversation.exchanges());
}

#[test]
fn a_response_need_not_wait_for_the_request() {
    let mut conversation = Conversation::new();
    let fields = [(":method", "POST"), (":scheme", "http"), (":path", "/upload")];
    conversation.headers(Side::Client, 1, 0, &fields).data(Side::Client, 1, 0, b"part");
    conversation.status(1, flag::END_STREAM, "413").data(Side::Client, 1, flag::END_STREAM, b"rest");
    let exchange = conversation.exchanges().remove(0);
    assert_eq!((exchange.sent, exchange.latency, exchange.complete), (10, 20, Some(20)));
}

#[test]
fn request_trailers_end_a_request() {
    let mut conversation = Conversation::new();
    let fields = [(":method", "POST"), (":scheme", "http"), (":path", "/upload")];
    conversation.headers(Side::Client, 1, 0, &fields).data(Side::Client, 1, 0, b"part");
    conversation.headers(Side::Client, 1, flag::END_STREAM, &[("checksum", "1")]);
    conversation.status(1, flag::END_STREAM, "200");
    assert_eq!(conversation.exchanges()[0].sent, 20);
}

#[test]
fn a_response_before_its_request_is_left_out() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/").status(1, flag::END_STREAM, "200");
    conversation.said[1].now = 5;
    let mut reasons = Vec::new();
    for event in conversation.events() {
        if let Told::LeftOut(_, reason) = event {
            reasons.push(reason);
        }
    }
    assert_eq!(reasons, [LeftOut::NegativeDuration]);
}

#[test]
fn what_is_open_can_be_looked_at() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/Waits").call(3, "/a.B/Answers").answer(3);
    let mut streams = Streams::new(Role::Client, true);
    let mut told = Vec::new();
    feed(&mut streams, Role::Client, &conversation.said, &mut told, &mut |_| Vec::new(), &mut |_| true);
    assert_eq!(told, []);
    let open: Vec<Exchange> = streams.open(Timestamp(2010)).map(Into::into).collect();
    assert_eq!(open[0].outcome, Outcome::Pending);
    assert_eq!((open[0].latency, open[0].complete), (1000, None));
    assert_eq!(open[1].outcome, Outcome::Ok);
    assert_eq!((open[1].latency, open[1].complete), (20, Some(30)));
    assert_eq!(open[1].class.as_deref(), Some("/a.B/Answers"));
}

#[test]
fn class_is_bounded() {
    let mut conversation = Conversation::new();
    conversation.call(1, &format!("/{}/C", "é".repeat(60))).answer(1).trailers(1, "0");
    let class = conversation.exchanges().remove(0).class.unwrap();
    assert_eq!(class.len(), 79);
}
