//! However frames are laid out and cut, they say the same.

use observer_common::Role;
use proptest::prelude::*;

use super::conversation::{Conversation, Layout, Side, Told, feed, observe};
use crate::http2::{Streams, flag, kind};

/// Something of everything.
fn everything() -> Conversation {
    let mut conversation = Conversation::new();
    conversation.frame(Side::Client, 4, 0, 0, &[0, 1, 0, 0, 16, 0]).frame(Side::Server, 4, 0, 0, &[]);
    conversation.call(1, "/a.B/C").get(3, "/items/1").status(3, 0, "103").call(5, "/a.B/D");
    let layout = Layout { padding: Some(7), priority: true, continuations: 2 };
    let fields = [(":status", "200"), ("content-type", "application/grpc"), ("date", "today")];
    conversation.laid_out(Side::Server, 1, 0, &fields, layout);
    conversation.data(Side::Server, 1, 0, &super::conversation::message(300));
    conversation.frame(Side::Server, 6, 0, 0, &[0; 8]);
    conversation.status(3, 0, "404").trailers(1, "5").data(Side::Server, 3, flag::END_STREAM, b"none");
    conversation.frame(Side::Client, 8, 0, 0, &[0, 0, 1, 0]).reset(Side::Client, 5, 8);
    conversation.call(7, "/a.B/C").call(9, "/a.B/D").answer(7);
    conversation.frame(Side::Server, kind::GOAWAY, 0, 0, &[0, 0, 0, 7, 0, 0, 0, 0, b'b', b'y', b'e']);
    conversation.trailers(7, "0");
    conversation
}

fn cut(conversation: &Conversation, mut cuts: impl FnMut(usize) -> Vec<usize>) -> Vec<Told> {
    let mut streams = Streams::new(Role::Client, true);
    let mut told = Vec::new();
    feed(&mut streams, Role::Client, &conversation.said, &mut told, &mut cuts, &mut |_| true);
    told
}

#[test]
fn padding_priority_and_continuation() {
    for padding in [None, Some(0), Some(1), Some(200)] {
        for priority in [false, true] {
            for continuations in 0..6 {
                let layout = Layout { padding, priority, continuations };
                let mut conversation = Conversation::new();
                let fields = [(":method", "GET"), (":scheme", "http"), (":path", "/laid/out"), ("x", "y")];
                for stream in [1, 3] {
                    conversation.laid_out(Side::Client, stream, flag::END_STREAM, &fields, layout);
                    let fields = [(":status", "418"), ("x", "y")];
                    conversation.laid_out(Side::Server, stream, flag::END_STREAM, &fields, layout);
                }
                for exchange in conversation.exchanges() {
                    assert_eq!(exchange.class.as_deref(), Some("GET /laid/out"));
                    assert_eq!(exchange.status.as_deref(), Some("418"));
                    let frames = 10 * continuations as u64;
                    assert_eq!((exchange.sent, exchange.latency), (frames, frames + 10));
                    assert_eq!(exchange.complete, Some(2 * frames + 10));
                }
            }
        }
    }
}

#[test]
fn cut_at_every_byte() {
    let conversation = everything();
    let whole = observe(Role::Client, true, &conversation.said);
    assert_eq!(whole.len(), 5);
    let longest = conversation.said.iter().map(|said| said.bytes.len()).max().unwrap();
    for position in 0..=longest {
        assert_eq!(cut(&conversation, |length| vec![position.min(length)]), whole, "at {position}");
    }
    assert_eq!(cut(&conversation, |length| (1..length).collect()), whole);
}

proptest! {
    #[test]
    fn cut_anywhere(seeds in prop::collection::vec(prop::collection::vec(0_usize..400, 0..5), 40)) {
        let conversation = everything();
        let whole = observe(Role::Client, true, &conversation.said);
        let mut seeds = seeds.iter().cycle();
        let told = cut(&conversation, |length| {
            let mut cuts: Vec<_> = seeds.next().into_iter().flatten().map(|cut| cut % (length + 1)).collect();
            cuts.sort_unstable();
            cuts
        });
        prop_assert_eq!(told, whole);
    }
}
