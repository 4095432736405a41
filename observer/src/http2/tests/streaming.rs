//! Calls with one message each way, and the others.

use observer_common::{Direction, Place, Role, Timestamp};

use super::conversation::{Conversation, POST, Side, Told, feed, message};
use crate::http2::{Frame, LeftOut, Streams, flag, kind};

fn streaming(conversation: &Conversation) -> bool {
    let events = conversation.events();
    assert_eq!(events.len(), 1);
    events[0] == Told::LeftOut(1, LeftOut::Streaming)
}

fn messages(count: usize) -> Vec<u8> {
    (0..count).flat_map(|_| message(40)).collect()
}

/// A response of `count` messages in DATA frames of `size` bytes.
fn response(count: usize, size: usize, padding: Option<u8>) -> Conversation {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C");
    conversation.headers(Side::Server, 1, 0, &[(":status", "200"), ("content-type", "application/grpc")]);
    for part in messages(count).chunks(size) {
        let mut payload = Vec::new();
        if let Some(padding) = padding {
            payload.push(padding);
        }
        payload.extend(part);
        payload.extend(vec![0; usize::from(padding.unwrap_or(0))]);
        let flags = if padding.is_some() { flag::PADDED } else { 0 };
        conversation.data(Side::Server, 1, flags, &payload);
    }
    conversation.trailers(1, "0");
    conversation
}

#[test]
fn messages_are_counted_however_they_are_framed() {
    for size in 1..=100 {
        for padding in [None, Some(0), Some(9), Some(255)] {
            for count in 0..=3 {
                let conversation = response(count, size, padding);
                assert_eq!(streaming(&conversation), count > 1, "{count} in {size}, padding {padding:?}");
            }
        }
    }
}

#[test]
fn a_client_that_streams() {
    for count in 1..=3 {
        let mut conversation = Conversation::new();
        let mut fields = POST.to_vec();
        fields.insert(2, (":path", "/a.B/C"));
        conversation.headers(Side::Client, 1, 0, &fields);
        for _ in 0..count {
            conversation.data(Side::Client, 1, 0, &message(1));
        }
        conversation.data(Side::Client, 1, flag::END_STREAM, b"").answer(1).trailers(1, "0");
        assert_eq!(streaming(&conversation), count > 1);
    }
}

#[test]
fn both_talking_at_once_is_no_request() {
    for (late, expected) in [(&b""[..], false), (b"more", true)] {
        let mut conversation = Conversation::new();
        let fields = [(":method", "POST"), (":scheme", "http"), (":path", "/chat")];
        conversation.headers(Side::Client, 1, 0, &fields).data(Side::Client, 1, 0, b"first");
        conversation.status(1, 0, "200").data(Side::Server, 1, 0, b"first");
        conversation.data(Side::Client, 1, flag::END_STREAM, late);
        conversation.data(Side::Server, 1, flag::END_STREAM, b"second");
        assert_eq!(streaming(&conversation), expected);
    }
}

#[test]
fn a_tunnel_is_no_request() {
    let mut conversation = Conversation::new();
    conversation.headers(Side::Client, 1, 0, &[(":method", "CONNECT"), (":authority", "a:1")]);
    conversation.status(1, 0, "200").data(Side::Server, 1, flag::END_STREAM, b"x");
    assert!(streaming(&conversation));
}

#[test]
fn a_prefix_that_was_not_seen_proves_nothing() {
    // The frame's header fills one segment, and of the next one nothing is kept; or five bytes are kept in all.
    for (cut, expected) in [(9, false), (13, false), (14, true)] {
        let mut streams = Streams::new(Role::Client, true);
        let mut told = Vec::new();
        let mut cuts = |length| if length > 100 { vec![cut] } else { Vec::new() };
        let said = response(3, 1000, None).said;
        feed(&mut streams, Role::Client, &said, &mut told, &mut cuts, &mut |_| true);
        assert_eq!(matches!(told[..], [Told::LeftOut(1, LeftOut::Streaming)]), expected, "{told:?}");
    }
}

#[test]
fn a_prefix_may_come_in_pieces() {
    let mut conversation = Conversation::new();
    conversation.call(1, "/a.B/C");
    conversation.headers(Side::Server, 1, 0, &[(":status", "200"), ("content-type", "application/grpc")]);
    let mut streams = Streams::new(Role::Client, true);
    let mut told = Vec::new();
    feed(&mut streams, Role::Client, &conversation.said, &mut told, &mut |_| Vec::new(), &mut |_| true);
    let bytes = message(10);
    for offset in 0..5 {
        let frame = Frame {
            now: Timestamp(2000),
            direction: Direction::Ingress,
            kind: kind::DATA,
            flags: flag::END_STREAM,
            stream: 1,
            length: 30,
            offset,
            data: &bytes[offset as usize..=offset as usize],
            complete: offset == 4,
            number: offset + 2,
            place: Place::InOrder,
        };
        streams.observe(&frame, &mut |event| told.push(event.into()));
    }
    assert_eq!(told, [Told::LeftOut(1, LeftOut::Streaming)]);
}
