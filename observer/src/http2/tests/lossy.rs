//! Whatever is lost, and whenever the observation begins: what is told is true.

use observer_common::Role;
use proptest::{prelude::*, sample::Index};

use super::conversation::{Conversation, Exchange, Layout, Side, Told, feed, message, observe};
use crate::http2::{LeftOut, Streams, flag};

/// One thing that somebody says on a stream.
pub(super) type Step = fn(&mut Conversation, u32) -> &mut Conversation;

const CLASS: &str = "/a.B/C";

/// What may happen on one stream, in order.
pub(super) const FLOWS: [&[Step]; 12] = [
    &[|c, s| c.call(s, CLASS), |c, s| c.answer(s), |c, s| c.trailers(s, "0")],
    &[|c, s| c.call(s, "/a.B/D"), |c, s| c.answer(s), |c, s| c.trailers(s, "14")],
    // Trailers, but no message.
    &[
        |c, s| c.call(s, CLASS),
        |c, s| c.headers(Side::Server, s, 0, &[(":status", "200"), ("content-type", "application/grpc")]),
        |c, s| c.trailers(s, "5"),
    ],
    // Statuses that only the dynamic table has.
    &[|c, s| c.get(s, "/x"), |c, s| c.status(s, flag::END_STREAM, "299")],
    &[|c, s| c.get(s, "/x"), |c, s| c.status(s, 0, "103"), |c, s| c.status(s, flag::END_STREAM, "299")],
    &[
        |c, s| c.get(s, "/y"),
        |c, s| c.status(s, 0, "103"),
        |c, s| c.status(s, 0, "299"),
        |c, s| c.data(Side::Server, s, flag::END_STREAM, b""),
    ],
    &[
        |c, s| c.get(s, "/y"),
        |c, s| c.status(s, 0, "299"),
        |c, s| c.headers(Side::Server, s, flag::END_STREAM, &[("checksum", "1")]),
    ],
    // An interim response, and then nothing more.
    &[|c, s| c.get(s, "/y"), |c, s| c.status(s, 0, "103"), |c, s| c.reset(Side::Client, s, 8)],
    &[|c, s| c.call(s, CLASS), |c, s| c.answer(s), |c, s| c.reset(Side::Server, s, 2)],
    // An upload with trailers.
    &[
        |c, s| c.headers(Side::Client, s, 0, &[(":method", "PUT"), (":scheme", "http"), (":path", "/up")]),
        |c, s| c.data(Side::Client, s, 0, &[b'u'; 50]),
        |c, s| c.headers(Side::Client, s, flag::END_STREAM, &[("checksum", "1")]),
        |c, s| c.status(s, flag::END_STREAM, "204"),
    ],
    // A header block of many frames.
    &[
        |c, s| c.get(s, "/z"),
        |c, s| {
            let layout = Layout { padding: Some(3), priority: true, continuations: 3 };
            c.laid_out(Side::Server, s, flag::END_STREAM, &[(":status", "201"), ("server", "x")], layout)
        },
    ],
    // Two messages.
    &[
        |c, s| c.call(s, CLASS),
        |c, s| c.answer(s),
        |c, s| c.data(Side::Server, s, 0, &message(9)).trailers(s, "0"),
    ],
];

/// Flows, interleaved. Streams are opened in the order of their ids.
pub(super) fn conversation(flows: &[usize], order: &[Index]) -> Conversation {
    let mut conversation = Conversation::new();
    let mut running: Vec<(u32, &[Step])> = Vec::new();
    let mut order = order.iter().cycle();
    let mut waiting = (0..).zip(flows);
    loop {
        let next = order.next().map_or(0, |index| index.index(running.len() + 2));
        if let Some((stream, rest)) = running.get_mut(next) {
            rest[0](&mut conversation, *stream);
            *rest = &rest[1..];
            running.retain(|(_, rest)| !rest.is_empty());
        } else if let Some((number, &flow)) = waiting.next() {
            let (first, rest) = FLOWS[flow].split_first().unwrap();
            first(&mut conversation, 2 * number + 1);
            running.push((2 * number + 1, rest));
        } else if running.is_empty() {
            return conversation;
        }
    }
}

/// What was told, if it is true.
pub(super) fn compare(told: &[Told], truth: &[Told]) -> Result<(), TestCaseError> {
    let mut seen = Vec::new();
    for event in told {
        let Told::Exchange(exchange) = event else { continue };
        prop_assert!(!seen.contains(&exchange.stream), "twice: {:?}", exchange);
        seen.push(exchange.stream);
        let Some(expected) = truth.iter().find_map(|event| match event {
            Told::Exchange(expected) if expected.stream == exchange.stream => Some(expected),
            _ => None,
        }) else {
            // Where the content type was not seen, or where a message's prefix was cut, nobody knows that it was a call
            // of many messages.
            prop_assert!(truth.contains(&Told::LeftOut(exchange.stream, LeftOut::Streaming)));
            continue;
        };
        let known = Exchange {
            number: exchange.number,
            class: exchange.class.as_ref().and(expected.class.clone()),
            status: exchange.status.as_ref().and(expected.status.clone()),
            failed: exchange.failed && expected.failed,
            grpc: exchange.grpc && expected.grpc,
            // What is lost in one direction is seen by what comes next there. That may be after the other side has
            // ended the exchange.
            sent: exchange.sent.min(expected.sent),
            bytes: (exchange.bytes.0.min(expected.bytes.0), exchange.bytes.1.min(expected.bytes.1)),
            ..expected.clone()
        };
        // Without `grpc-status` there is still `:status`.
        let fallback = exchange.status.as_deref() == Some("200") && expected.grpc && !exchange.grpc;
        let status = if fallback { exchange.status.clone() } else { known.status.clone() };
        prop_assert_eq!(exchange, &Exchange { status, ..known });
    }
    Ok(())
}

pub(super) fn order() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_told_is_true(
        flows in prop::collection::vec(0..FLOWS.len(), 1..30),
        order in order(),
        begin: Index,
        late: bool,
        lost in prop::collection::vec(0_u8..100, 97),
        percent in 0_u8..12,
        cuts in prop::collection::vec(prop::collection::vec(any::<Index>(), 0..3), 20),
    ) {
        let conversation = conversation(&flows, &order);
        let truth = observe(Role::Client, true, &conversation.said);
        prop_assert_eq!(truth.len(), flows.len());
        prop_assert!(!truth.iter().any(|told| matches!(told, Told::LeftOut(_, LeftOut::Uncertain))));
        let said = if late { &conversation.said[begin.index(conversation.said.len())..] } else { &conversation.said };
        let mut streams = Streams::new(Role::Client, !late);
        let mut told = Vec::new();
        let (mut cuts, mut lost) = (cuts.iter().cycle(), lost.iter().cycle());
        let mut cut = |length| {
            let mut cuts: Vec<_> = cuts.next().unwrap().iter().map(|cut| cut.index(length + 1)).collect();
            cuts.sort_unstable();
            cuts
        };
        feed(&mut streams, Role::Client, said, &mut told, &mut cut, &mut |_| *lost.next().unwrap() >= percent);
        compare(&told, &truth)?;
    }

    #[test]
    fn cutting_changes_nothing(
        flows in prop::collection::vec(0..FLOWS.len() - 1, 1..30),
        order in order(),
        server: bool,
        cuts in prop::collection::vec(prop::collection::vec(any::<Index>(), 0..6), 20),
    ) {
        let role = if server { Role::Server } else { Role::Client };
        let conversation = conversation(&flows, &order);
        let mut streams = Streams::new(role, true);
        let mut told = Vec::new();
        let mut cuts = cuts.iter().cycle();
        let mut cut = |length| {
            let mut cuts: Vec<_> = cuts.next().unwrap().iter().map(|cut| cut.index(length + 1)).collect();
            cuts.sort_unstable();
            cuts
        };
        feed(&mut streams, role, &conversation.said, &mut told, &mut cut, &mut |_| true);
        prop_assert_eq!(told, observe(role, true, &conversation.said));
    }
}

#[test]
fn every_flow_is_told_apart() {
    let flows: Vec<usize> = (0..FLOWS.len()).collect();
    let told = conversation(&flows, &[]).events();
    let streaming = told.iter().filter(|event| matches!(event, Told::LeftOut(_, LeftOut::Streaming))).count();
    assert_eq!((told.len(), streaming), (FLOWS.len(), 1));
}
