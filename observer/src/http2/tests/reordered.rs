//! Segments that arrive in another order than that of their bytes, walked over by the probes' own walker.

use observer_common::{Connection, Direction, Role, Timestamp};
use proptest::{prelude::*, sample::Index};

use super::{
    conversation::{Conversation, Exchange, Said, Told, direction, observe},
    lossy::{FLOWS, compare, conversation, order},
};
use crate::http2::{Frame, LeftOut, Streams, flag, order::readable};

/// A segment, and where it stands among the bytes of its direction.
#[derive(Clone, Debug)]
struct Segment {
    direction: Direction,
    at: u32,
    bytes: Vec<u8>,
}

impl Segment {
    fn end(&self) -> u32 {
        self.at + u32::try_from(self.bytes.len()).unwrap()
    }

    /// Cut in two.
    fn split(&self, cut: usize) -> [Self; 2] {
        let (first, second) = self.bytes.split_at(cut);
        let part = |at, bytes: &[u8]| Self { direction: self.direction, at, bytes: bytes.to_vec() };
        [part(self.at, first), part(self.at + u32::try_from(cut).unwrap(), second)]
    }
}

/// A connection as the probes and the host follow it.
struct Observed {
    connection: Connection,
    streams: Streams,
    starts: [u32; 2],
    told: Vec<Told>,
    /// Which records are lost on the way to the host, again and again.
    lost: Vec<bool>,
    records: usize,
}

impl Observed {
    fn new(role: Role, starts: [u32; 2]) -> Self {
        let mut connection = Connection::default();
        connection.open(role);
        connection.continue_http2();
        for direction in Direction::ALL {
            connection.walker(direction).begin(starts[usize::from(direction.number())], 0);
        }
        Self {
            connection,
            streams: Streams::new(role, true),
            starts,
            told: Vec::new(),
            lost: vec![false],
            records: 0,
        }
    }

    /// A segment passes at `now`; each frame changed as `change` says.
    fn pass<'a>(&mut self, now: u64, segment: &'a Segment, change: impl Fn(Frame<'a>) -> Frame<'a>) {
        let Self { connection, streams, starts, told, lost, records } = self;
        let Segment { direction, at, bytes } = segment;
        let sequence = starts[usize::from(direction.number())].wrapping_add(*at);
        let payload = bytes.as_slice();
        let length = u32::try_from(bytes.len()).unwrap();
        if !connection.admit_frames(*direction, Timestamp(now), sequence, &payload, length) {
            return;
        }
        let mut hear = |frame: Frame<'a>| {
            *records += 1;
            if lost[*records % lost.len()] {
                return;
            }
            streams.observe(&change(frame), &mut |event| told.push(event.into()));
        };
        loop {
            let (passed, record) = connection.frame_step(*direction, &payload);
            if let Some(record) = record {
                let from = passed.at as usize;
                hear(Frame::of(&record, &bytes[from..from + usize::from(record.kept)]));
            }
            if !passed.more {
                break;
            }
        }
        if let Some(record) = connection.end_frames(*direction) {
            hear(Frame::of(&record, &[]));
        }
    }
}

/// What arrives in this order, one segment every ten nanoseconds.
fn arrive(role: Role, starts: [u32; 2], arrivals: &[Segment]) -> Vec<Told> {
    arrive_with_loss(role, starts, arrivals, &[false])
}

/// The same, but some of the records are lost.
fn arrive_with_loss(role: Role, starts: [u32; 2], arrivals: &[Segment], lost: &[bool]) -> Vec<Told> {
    let mut observed = Observed::new(role, starts);
    observed.lost = lost.to_vec();
    for (now, segment) in (1..).zip(arrivals) {
        observed.pass(10 * now, segment, |frame| frame);
    }
    observed.told
}

/// The same by hand: what is behind a hole is put off until the hole is filled.
fn expected(role: Role, arrivals: &[Segment]) -> Vec<Told> {
    let mut observed = Observed::new(role, [0, 0]);
    let asks = role == Role::Server;
    let mut next = 0;
    let mut waiting: Vec<(u64, &Segment)> = Vec::new();
    for (now, segment) in (1..).map(|number| 10 * number).zip(arrivals) {
        if segment.direction == Direction::Ingress {
            if segment.at != next {
                waiting.push((now, segment));
                continue;
            }
            next = segment.end();
        }
        observed.pass(now, segment, |frame| frame);
        while let Some(place) = waiting.iter().position(|(_, segment)| segment.at == next) {
            let (arrived, segment) = waiting.remove(place);
            next = segment.end();
            observed.pass(arrived, segment, |frame| readable(&frame, asks, Timestamp(now)));
        }
    }
    assert!(waiting.is_empty());
    observed.told
}

/// Frames in segments: as many at once as `together` says, unless the other side speaks.
fn segments(role: Role, said: &[Said], together: &[u8]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut ends = [0, 0];
    let mut room = 0;
    let mut together = together.iter().cycle();
    for Said { side, bytes, .. } in said {
        let direction = direction(role, *side);
        let end = &mut ends[usize::from(direction.number())];
        match segments.last_mut() {
            Some(last) if room > 0 && last.direction == direction => {
                last.bytes.extend(bytes);
                room -= 1;
            }
            _ => {
                room = *together.next().unwrap();
                segments.push(Segment { direction, at: *end, bytes: bytes.clone() });
            }
        }
        *end += u32::try_from(bytes.len()).unwrap();
    }
    segments
}

/// How one segment is late: behind how many others, and in which pieces.
#[derive(Clone, Debug)]
struct Late {
    behind: usize,
    /// Whether its beginning is in time.
    begins: Option<Index>,
    /// Whether its end comes later still, behind one more.
    ends: Option<Index>,
}

fn late() -> impl Strategy<Value = Option<Late>> {
    let cut = || prop::option::weighted(0.3, any::<Index>());
    prop::option::weighted(0.4, (1_usize..5, cut(), cut()))
        .prop_map(|late| late.map(|(behind, begins, ends)| Late { behind, begins, ends }))
}

/// Lets segments that arrive be late, one after the other. Nobody answers what has not arrived.
fn delay(role: Role, segments: &[Segment], late: &[Option<Late>]) -> Vec<Segment> {
    let mut arrivals = Vec::new();
    let mut rest = segments.iter();
    let mut late = late.iter().cycle();
    while let Some(segment) = rest.next() {
        let Some(late) = late.next().unwrap().as_ref().filter(|_| segment.direction == Direction::Ingress)
        else {
            arrivals.push(segment.clone());
            continue;
        };
        let mut pieces = vec![segment.clone()];
        for cut in [&late.begins, &late.ends].into_iter().flatten() {
            let last = pieces.pop().unwrap();
            let cut = cut.index(last.bytes.len() + 1);
            pieces.extend(last.split(cut).into_iter().filter(|piece| !piece.bytes.is_empty()));
        }
        let mut pieces = pieces.into_iter();
        if late.begins.is_some() && pieces.len() > 1 {
            arrivals.extend(pieces.next());
        }
        let mut pass = |behind: usize, arrivals: &mut Vec<Segment>| {
            let mut passed = 0;
            while passed < behind {
                let Some(next) = rest.clone().next() else { break };
                if role == Role::Server && next.direction == Direction::Egress {
                    break;
                }
                passed += usize::from(next.direction == Direction::Ingress);
                arrivals.extend(rest.next().cloned());
            }
        };
        pass(late.behind, &mut arrivals);
        arrivals.extend(pieces.next());
        pass(1, &mut arrivals);
        arrivals.extend(pieces);
    }
    arrivals
}

/// What was told, with the times of the truth where it has any.
fn without_times(told: Vec<Told>, truth: &[Told]) -> Vec<Told> {
    let find = |stream: u32| {
        truth.iter().find_map(|event| match event {
            Told::Exchange(exchange) if exchange.stream == stream => Some(exchange),
            _ => None,
        })
    };
    let timeless = |told| match told {
        Told::Exchange(exchange) => Told::Exchange(match find(exchange.stream) {
            Some(Exchange { start, sent, latency, complete, .. }) => {
                let complete = exchange.complete.and(*complete);
                Exchange { start: *start, sent: *sent, latency: *latency, complete, ..exchange }
            }
            None => exchange,
        }),
        left_out @ Told::LeftOut(..) => left_out,
    };
    told.into_iter().map(timeless).collect()
}

/// A hole that is never filled costs the streams that were open, and no more memory than there is for it.
#[test]
fn a_hole_that_stays_is_a_gap() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/x").get(3, "/x").status(1, flag::END_STREAM, "200").status(
        3,
        flag::END_STREAM,
        "200",
    );
    for stream in (5..4_001).step_by(2) {
        conversation.get(stream, "/x").status(stream, flag::END_STREAM, "200");
    }
    let mut arrivals = segments(Role::Client, &conversation.said, &[0]);
    let lost = arrivals.iter().position(|segment| segment.direction == Direction::Ingress).unwrap();
    arrivals.remove(lost);
    let mut observed = Observed::new(Role::Client, [5, 7]);
    for (now, segment) in (1..).zip(&arrivals) {
        observed.pass(10 * now, segment, |frame| frame);
        let (bytes, slots) = observed.streams.held();
        assert!(bytes < 200 * 1024 && slots < 1_500, "{bytes} bytes, {slots} streams");
    }
    let left_out: Vec<&Told> =
        observed.told.iter().filter(|told| matches!(told, Told::LeftOut(..))).collect();
    assert_eq!(left_out, [&Told::LeftOut(1, LeftOut::Uncertain), &Told::LeftOut(3, LeftOut::Uncertain)]);
    assert_eq!(observed.told.len(), 2_000);
}

/// Who answers has read the request: a hole before it was filled, whatever was seen of it.
#[test]
fn an_answer_tells_that_the_hole_is_filled() {
    let mut conversation = Conversation::new();
    conversation.get(1, "/x").get(3, "/x").get(5, "/x").status(5, flag::END_STREAM, "204");
    let mut arrivals = segments(Role::Server, &conversation.said, &[0]);
    arrivals.remove(1);
    let told = arrive(Role::Server, [5, 7], &arrivals);
    assert_eq!(told[0], Told::LeftOut(1, LeftOut::Uncertain));
    let Told::Exchange(exchange) = &told[1] else { panic!("{told:?}") };
    assert_eq!((exchange.stream, exchange.start, exchange.latency), (5, 20, 10));
    assert_eq!(told.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// One hole after the other: everything is measured, as if nothing had been late but what was.
    #[test]
    fn late_segments_change_nothing_but_times(
        flows in prop::collection::vec(0..FLOWS.len(), 1..30),
        order in order(),
        server: bool,
        starts: [u32; 2],
        together in prop::collection::vec(0_u8..4, 11),
        late in prop::collection::vec(late(), 13),
    ) {
        let role = if server { Role::Server } else { Role::Client };
        let conversation = conversation(&flows, &order);
        let arrivals = delay(role, &segments(role, &conversation.said, &together), &late);
        let told = arrive(role, starts, &arrivals);
        prop_assert_eq!(&told, &expected(role, &arrivals));
        // One hole after the other leaves nothing out that would not be left out anyway.
        let truth = observe(role, true, &conversation.said);
        prop_assert_eq!(told.len(), truth.len());
        prop_assert!(!told.iter().any(|told| matches!(told, Told::LeftOut(_, LeftOut::Uncertain))));
        if !server {
            compare(&without_times(told, &truth), &truth)?;
        }
    }

    /// Cut anywhere, late by anything, twice or never: whatever is told is true but for its times, which depend on what
    /// was seen of it, and nothing is told twice.
    #[test]
    fn whatever_arrives_is_true_or_left_out(
        flows in prop::collection::vec(0..FLOWS.len(), 1..30),
        order in order(),
        starts: [u32; 2],
        together in prop::collection::vec(0_u8..6, 11),
        fates in prop::collection::vec((0_u8..100, 1_usize..8, any::<Index>(), any::<Index>()), 61),
        unrest in 0_u8..30,
        lost in prop::collection::vec(prop::bool::weighted(0.02), 97),
    ) {
        let conversation = conversation(&flows, &order);
        let truth = observe(Role::Client, true, &conversation.said);
        let mut queue: Vec<(usize, usize, Segment)> = Vec::new();
        let segments = segments(Role::Client, &conversation.said, &together);
        let mut fates = fates.iter().cycle();
        for (number, segment) in segments.iter().enumerate() {
            let (dice, by, from, to) = fates.next().unwrap();
            let mut put = |at: usize, segment: Segment| {
                let place = queue.len();
                queue.push((at, place, segment));
            };
            if segment.direction == Direction::Egress || *dice >= unrest {
                put(number, segment.clone());
                continue;
            }
            let cut = from.index(segment.bytes.len() + 1);
            let [first, second] = segment.split(cut);
            match dice % 6 {
                0 => put(number + by, segment.clone()),
                1 => { put(number, segment.clone()); put(number + by, second); }
                2 => { put(number, first); put(number + by, second); }
                3 => { put(number, second); put(number + by, first); }
                4 => {
                    // Once, together with what lies behind it, which nobody has said before.
                    let mut whole = segment.clone();
                    let next = segments.iter().enumerate().skip(number + 1).find(|(_, next)| {
                        next.direction == Direction::Ingress && next.at == whole.end()
                    });
                    let mut at = number + by;
                    if let Some((number, next)) = next {
                        whole.bytes.extend(next.bytes.iter().take(to.index(next.bytes.len() + 1)));
                        at = at.max(number);
                    }
                    put(at, whole);
                }
                _ => {}
            }
        }
        queue.sort_by_key(|(at, place, _)| (*at, *place));
        let arrivals: Vec<Segment> =
            queue.into_iter().map(|(_, _, segment)| segment).filter(|segment| !segment.bytes.is_empty()).collect();
        let told = arrive_with_loss(Role::Client, starts, &arrivals, &lost);
        let mut streams: Vec<u32> = told.iter().map(|told| match told {
            Told::Exchange(exchange) => exchange.stream,
            Told::LeftOut(stream, _) => *stream,
        }).collect();
        streams.sort_unstable();
        let before = streams.len();
        streams.dedup();
        prop_assert_eq!(streams.len(), before, "something is told twice");
        compare(&without_times(told, &truth), &truth)?;
    }
}
