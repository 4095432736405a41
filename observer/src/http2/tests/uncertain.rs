//! Gaps, and connections that are older than their observer.

use observer_common::{Direction, Role};

use super::conversation::{Conversation, POST, Side, Told, feed, observe};
use crate::http2::{LeftOut, Streams, flag, kind};

fn lossy(
    conversation: &Conversation,
    from_the_start: bool,
    lost: impl Fn(Direction, u32) -> bool,
) -> (Streams, Vec<Told>) {
    let mut streams = Streams::new(Role::Client, from_the_start);
    let mut told = Vec::new();
    feed(&mut streams, Role::Client, &conversation.said, &mut told, &mut |_| Vec::new(), &mut |frame| {
        !lost(frame.direction, frame.number)
    });
    (streams, told)
}

/// Of every event: the stream, and whether it became an exchange.
fn streams(told: &[Told]) -> Vec<(u32, Option<LeftOut>)> {
    told.iter()
        .map(|event| match event {
            Told::Exchange(exchange) => (exchange.stream, None),
            Told::LeftOut(stream, reason) => (*stream, Some(*reason)),
        })
        .collect()
}

#[test]
fn a_gap_in_the_responses() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C").call(3, "/a.B/C").answer(1).trailers(1, "0").answer(3).trailers(3, "0");
    conversation.call(5, "/a.B/C").answer(5).trailers(5, "0");
    // Everything that is said on stream 1.
    let (observed, told) = lossy(&conversation, true, |way, number| way == Direction::Ingress && number <= 3);
    let uncertain = Some(LeftOut::Uncertain);
    assert_eq!(streams(&told), [(1, uncertain), (3, uncertain), (5, None)]);
    assert_eq!(observed.is_certain(), (true, false));
    let Some(Told::Exchange(exchange)) = told.last() else { panic!("no exchange") };
    assert_eq!(exchange.class.as_deref(), Some("/a.B/C"));
    // The status refers to a field that was lost.
    assert_eq!((exchange.status.as_deref(), exchange.latency), (None, 20));
}

#[test]
fn a_gap_in_the_requests() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C").call(3, "/a.B/C").call(5, "/a.B/C");
    for stream in [5, 1, 3] {
        conversation.answer(stream).trailers(stream, "0");
    }
    conversation.call(7, "/a.B/C").answer(7).trailers(7, "0");
    // HEADERS and DATA of the request on stream 3.
    let (observed, told) =
        lossy(&conversation, true, |way, number| way == Direction::Egress && matches!(number, 3 | 4));
    let expected = [(1, Some(LeftOut::Uncertain)), (5, None), (3, Some(LeftOut::StartedBefore)), (7, None)];
    assert_eq!(streams(&told), expected);
    assert_eq!(observed.is_certain(), (false, true));
    let Some(Told::Exchange(exchange)) = told.last() else { panic!("no exchange") };
    assert_eq!((exchange.class.as_deref(), exchange.status.as_deref()), (None, Some("0 OK")));
}

#[test]
fn the_walker_loses_its_place() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C");
    let (mut observed, _) = lossy(&conversation, true, |_, _| false);
    for way in [Direction::Ingress, Direction::Egress, Direction::Egress] {
        let mut told = Vec::new();
        observed.gap(way, &mut |event| told.push(Told::from(event)));
        let first = way == Direction::Ingress;
        assert_eq!(told.len(), usize::from(first), "{told:?}");
    }
    assert_eq!(observed.is_certain(), (false, false));
}

#[test]
fn a_connection_older_than_its_observer() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/old").status(1, flag::END_STREAM, "201").get(3, "/old");
    let unseen = conversation.said.len();
    conversation.status(3, flag::END_STREAM, "202");
    for (stream, path, status) in [(5, "/new", "200"), (7, "/old", "201"), (9, "/new", "202")] {
        conversation.get(stream, path).status(stream, flag::END_STREAM, status);
    }
    let told = observe(Role::Client, false, &conversation.said[unseen..]);
    let [Told::LeftOut(3, LeftOut::StartedBefore), exchanges @ ..] = &told[..] else { panic!("{told:?}") };
    let known = super::conversation::exchanges(exchanges);
    let known: Vec<_> = known
        .iter()
        .map(|exchange| {
            assert_eq!((exchange.latency, exchange.complete), (10, Some(10)));
            (exchange.stream, exchange.class.as_deref(), exchange.status.as_deref())
        })
        .collect();
    // What was said before the observation began is not known when it is referred to.
    assert_eq!(
        known,
        [(5, Some("GET /new"), Some("200")), (7, None, None), (9, Some("GET /new"), Some("202"))]
    );
}

#[test]
fn old_trailers_are_no_request() {
    let mut conversation = Conversation::new();
    conversation.headers(Side::Client, 1, flag::END_STREAM, &[("checksum", "1")]);
    conversation.status(1, flag::END_STREAM, "200").get(3, "/").status(3, flag::END_STREAM, "200");
    let told = observe(Role::Client, false, &conversation.said);
    assert_eq!(streams(&told), [(1, Some(LeftOut::StartedBefore)), (3, None)]);
}

#[test]
fn an_interim_response_that_cannot_be_told() {
    let mut conversation = Conversation::new();
    // Puts the status into the table while nobody looks.
    conversation.get(1, "/").headers(Side::Server, 1, 0, &[(":status", "103")]);
    conversation.status(1, flag::END_STREAM, "200");
    let before = conversation.said.len();
    conversation.get(3, "/").headers(Side::Server, 3, 0, &[(":status", "103")]);
    conversation.status(3, 0, "200").data(Side::Server, 3, flag::END_STREAM, b"x");
    let told = observe(Role::Client, false, &conversation.said[before..]);
    let [Told::Exchange(exchange)] = &told[..] else { panic!("{told:?}") };
    assert_eq!((exchange.latency, exchange.status.as_deref()), (20, Some("200")));
}

#[test]
fn what_may_be_interim_or_the_response_is_left_out() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/").status(1, 0, "103").status(1, flag::END_STREAM, "299");
    let before = conversation.said.len();
    // An interim response and one without content, or a response without content and its trailers: all hidden.
    conversation.get(3, "/").status(3, 0, "103").status(3, flag::END_STREAM, "299");
    // Given up after what may be the response.
    conversation.get(5, "/").status(5, 0, "299").reset(Side::Client, 5, 8);
    // What ends a response cannot be interim.
    conversation.get(7, "/").status(7, flag::END_STREAM, "299");
    let told = observe(Role::Client, false, &conversation.said[before..]);
    let uncertain = Some(LeftOut::Uncertain);
    assert_eq!(streams(&told), [(3, uncertain), (5, uncertain), (7, None)]);
}

#[test]
fn a_broken_header_block_costs_the_fields_but_not_the_times() {
    let mut conversation = Conversation::new();
    let flags = flag::END_HEADERS | flag::END_STREAM;
    conversation.frame(Side::Client, kind::HEADERS, flags, 1, &[0xff, 0xff, 0xff, 0xff, 0xff]);
    conversation.status(1, flag::END_STREAM, "200").get(3, "/").status(3, flag::END_STREAM, "200");
    let exchanges = conversation.exchanges();
    assert_eq!((&exchanges[0].class, exchanges[0].latency), (&None, 10));
    assert_eq!((exchanges[1].class.as_deref(), exchanges[1].latency), (Some("GET /"), 10));
    let (observed, _) = lossy(&conversation, true, |_, _| false);
    assert_eq!(observed.is_certain(), (false, true));
}

#[test]
fn a_header_block_of_any_size_is_followed_to_its_end() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/");
    conversation.frame(Side::Server, kind::HEADERS, flag::END_STREAM, 1, &[0x88]);
    for _ in 0..100 {
        conversation.frame(Side::Server, kind::CONTINUATION, 0, 1, &[0x88; 16384]);
    }
    conversation.frame(Side::Server, kind::CONTINUATION, flag::END_HEADERS, 1, &[]);
    let (observed, told) = lossy(&conversation, true, |_, _| false);
    let [Told::Exchange(exchange)] = &told[..] else { panic!("{told:?}") };
    assert_eq!((exchange.latency, exchange.complete), (10, Some(1020)));
    assert_eq!(exchange.status, None);
    assert_eq!(observed.is_certain(), (true, false));
    assert!(observed.held().0 < 256 * 1024);
}

#[test]
fn a_frame_within_a_header_block_breaks_the_protocol() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/").get(3, "/").frame(Side::Server, kind::HEADERS, 0, 1, &[0x88]);
    conversation.data(Side::Server, 3, flag::END_STREAM, b"");
    let uncertain = Some(LeftOut::Uncertain);
    assert_eq!(streams(&conversation.events()), [(1, uncertain), (3, uncertain)]);
}

#[test]
fn content_before_a_response_is_no_response() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/").data(Side::Server, 1, 0, b"x").status(1, flag::END_STREAM, "200");
    assert_eq!(streams(&conversation.events()), [(1, Some(LeftOut::Uncertain))]);
    let mut conversation = Conversation::new();
    conversation.get(1, "/").status(1, flag::END_STREAM, "100");
    assert_eq!(streams(&conversation.events()), [(1, Some(LeftOut::Uncertain))]);
}

#[test]
fn streams_that_no_client_opens() {
    let mut conversation = Conversation::new();
    for stream in [0, 2, 4] {
        conversation.get(stream, "/").status(stream, flag::END_STREAM, "200");
    }
    conversation.get(5, "/").status(5, flag::END_STREAM, "200");
    // Used again.
    conversation.get(5, "/").status(5, flag::END_STREAM, "200").get(3, "/").status(
        3,
        flag::END_STREAM,
        "200",
    );
    assert_eq!(streams(&conversation.events()), [(5, None)]);
}

#[test]
fn more_streams_than_are_followed() {
    let mut conversation = Conversation::new();
    for stream in 0..2100 {
        let mut fields = POST.to_vec();
        fields.push((":path", "/a.B/C"));
        conversation.headers(Side::Client, 2 * stream + 1, 0, &fields);
    }
    let (observed, told) = lossy(&conversation, true, |_, _| false);
    assert_eq!(told.len(), 52);
    assert_eq!(told[0], Told::LeftOut(1, LeftOut::TooMany));
    assert_eq!(observed.held().1, 2048);
}
