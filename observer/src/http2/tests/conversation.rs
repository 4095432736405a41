//! Writes down what two sides of an HTTP/2 connection say.

use observer_common::{Direction, Outcome, Role, Timestamp};

use super::{encoder::Encoder, walker::Walker};
use crate::http2::{Ended, Event, Frame, LeftOut, Streams, flag, kind};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// How a header block is laid out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    pub(super) padding: Option<u8>,
    pub(super) priority: bool,
    /// How many CONTINUATION frames follow.
    pub(super) continuations: usize,
}

/// One frame on the wire.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) now: u64,
    pub(super) side: Side,
    pub(super) bytes: Vec<u8>,
}

pub(super) struct Conversation {
    client: Encoder,
    server: Encoder,
    pub(super) now: u64,
    pub(super) said: Vec<Said>,
}

pub(super) const POST: [(&str, &str); 3] =
    [(":method", "POST"), (":scheme", "http"), ("content-type", "application/grpc")];

impl Conversation {
    pub(super) fn new() -> Self {
        Self { client: Encoder::default(), server: Encoder::default(), now: 1000, said: Vec::new() }
    }

    /// Ten nanoseconds later.
    pub(super) fn frame(
        &mut self,
        side: Side,
        kind: u8,
        flags: u8,
        stream: u32,
        payload: &[u8],
    ) -> &mut Self {
        self.now += 10;
        let mut bytes = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend(payload);
        self.said.push(Said { now: self.now, side, bytes });
        self
    }

    pub(super) fn encode(&mut self, side: Side, fields: &[(&str, &str)]) -> Vec<u8> {
        let encoder = match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        };
        encoder.encode(fields)
    }

    pub(super) fn laid_out(
        &mut self,
        side: Side,
        stream: u32,
        flags: u8,
        fields: &[(&str, &str)],
        layout: Layout,
    ) -> &mut Self {
        let block = self.encode(side, fields);
        let part_length = block.len() / (layout.continuations + 1);
        let (first, mut rest) =
            block.split_at(if layout.continuations == 0 { block.len() } else { part_length });
        let mut flags = flags;
        let mut payload = Vec::new();
        if let Some(padding) = layout.padding {
            flags |= flag::PADDED;
            payload.push(padding);
        }
        if layout.priority {
            flags |= flag::PRIORITY;
            payload.extend([0, 0, 0, 0, 15]);
        }
        payload.extend(first);
        payload.extend(vec![0; usize::from(layout.padding.unwrap_or(0))]);
        if layout.continuations == 0 {
            flags |= flag::END_HEADERS;
        }
        self.frame(side, kind::HEADERS, flags, stream, &payload);
        for left in (0..layout.continuations).rev() {
            let (part, after) = rest.split_at(if left == 0 { rest.len() } else { part_length });
            rest = after;
            let flags = if left == 0 { flag::END_HEADERS } else { 0 };
            self.frame(side, kind::CONTINUATION, flags, stream, part);
        }
        self
    }

    pub(super) fn headers(
        &mut self,
        side: Side,
        stream: u32,
        flags: u8,
        fields: &[(&str, &str)],
    ) -> &mut Self {
        self.laid_out(side, stream, flags, fields, Layout::default())
    }

    pub(super) fn get(&mut self, stream: u32, path: &str) -> &mut Self {
        let fields = [(":method", "GET"), (":scheme", "http"), (":path", path)];
        self.headers(Side::Client, stream, flag::END_STREAM, &fields)
    }

    pub(super) fn status(&mut self, stream: u32, flags: u8, status: &str) -> &mut Self {
        self.headers(Side::Server, stream, flags, &[(":status", status), ("server", "test")])
    }

    pub(super) fn data(&mut self, side: Side, stream: u32, flags: u8, payload: &[u8]) -> &mut Self {
        self.frame(side, kind::DATA, flags, stream, payload)
    }

    pub(super) fn call(&mut self, stream: u32, path: &str) -> &mut Self {
        let mut fields = POST.to_vec();
        fields.insert(2, (":path", path));
        self.headers(Side::Client, stream, 0, &fields);
        self.data(Side::Client, stream, flag::END_STREAM, &message(20))
    }

    pub(super) fn answer(&mut self, stream: u32) -> &mut Self {
        self.headers(Side::Server, stream, 0, &[(":status", "200"), ("content-type", "application/grpc")]);
        self.data(Side::Server, stream, 0, &message(30))
    }

    pub(super) fn trailers(&mut self, stream: u32, status: &str) -> &mut Self {
        self.headers(Side::Server, stream, flag::END_STREAM, &[("grpc-status", status), ("grpc-message", "")])
    }

    pub(super) fn reset(&mut self, side: Side, stream: u32, code: u32) -> &mut Self {
        self.frame(side, kind::RST_STREAM, 0, stream, &code.to_be_bytes())
    }

    pub(super) fn events(&self) -> Vec<Told> {
        observe(Role::Client, true, &self.said)
    }

    pub(super) fn exchanges(&self) -> Vec<Exchange> {
        exchanges(&self.events())
    }
}

/// A message of `length` bytes with its prefix.
pub(super) fn message(length: u32) -> Vec<u8> {
    let mut bytes = vec![0];
    bytes.extend(length.to_be_bytes());
    bytes.resize(5 + length as usize, b'x');
    bytes
}

/// A copy of [`Ended`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) stream: u32,
    pub(super) number: u32,
    pub(super) start: u64,
    pub(super) sent: u64,
    pub(super) latency: u64,
    pub(super) complete: Option<u64>,
    pub(super) outcome: Outcome,
    pub(super) class: Option<String>,
    pub(super) status: Option<String>,
    pub(super) failed: bool,
    pub(super) grpc: bool,
    pub(super) bytes: (u64, u64),
}

impl From<Ended<'_>> for Exchange {
    fn from(ended: Ended<'_>) -> Self {
        Self {
            stream: ended.stream,
            number: ended.number,
            start: ended.start.0,
            sent: ended.sent.0,
            latency: ended.latency.0,
            complete: ended.complete.map(|complete| complete.0),
            outcome: ended.outcome,
            class: ended.class.map(Into::into),
            status: ended.status.map(Into::into),
            failed: ended.failed,
            grpc: ended.grpc,
            bytes: (ended.request_bytes, ended.response_bytes),
        }
    }
}

/// A copy of [`Event`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Exchange(Exchange),
    LeftOut(u32, LeftOut),
}

impl From<Event<'_>> for Told {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Ended(ended) => Self::Exchange(ended.into()),
            Event::LeftOut { stream, reason } => Self::LeftOut(stream, reason),
        }
    }
}

pub(super) fn exchanges(events: &[Told]) -> Vec<Exchange> {
    events
        .iter()
        .map(|event| match event {
            Told::Exchange(exchange) => exchange.clone(),
            Told::LeftOut(stream, reason) => panic!("stream {stream} left out: {reason:?}"),
        })
        .collect()
}

pub(super) const fn direction(role: Role, side: Side) -> Direction {
    if matches!(role, Role::Client) == matches!(side, Side::Client) {
        Direction::Egress
    } else {
        Direction::Ingress
    }
}

/// Every frame in its own segment.
pub(super) fn observe(role: Role, from_the_start: bool, said: &[Said]) -> Vec<Told> {
    let mut streams = Streams::new(role, from_the_start);
    let mut told = Vec::new();
    feed(&mut streams, role, said, &mut told, &mut |_| Vec::new(), &mut |_| true);
    told
}

/// Each frame cut where `cuts` says, each piece handed on if `keep` says so. All pieces of a frame pass at once, so
/// that times do not depend on the cuts.
pub(super) fn feed(
    streams: &mut Streams,
    role: Role,
    said: &[Said],
    told: &mut Vec<Told>,
    cuts: &mut dyn FnMut(usize) -> Vec<usize>,
    keep: &mut dyn FnMut(&Frame<'_>) -> bool,
) {
    let mut walkers = [Walker::default(), Walker::default()];
    for Said { now, side, bytes } in said {
        let direction = direction(role, *side);
        let mut begin = 0;
        let mut ends = cuts(bytes.len());
        ends.push(bytes.len());
        for end in ends {
            walkers[*side as usize].segment(*now, direction, &bytes[begin..end], &mut |frame| {
                if keep(frame) {
                    streams.observe(frame, &mut |event| told.push(event.into()));
                }
            });
            begin = end;
        }
    }
}

/// The end of the connection.
pub(super) fn close(streams: &mut Streams, now: u64, outcome: Outcome) -> Vec<Told> {
    let mut told = Vec::new();
    streams.close(Timestamp(now), outcome, &mut |event| told.push(event.into()));
    told
}
