//! One connection: which frames belong together.

use std::ops::Range;

use observer_common::{Direction, Outcome, Role, Timestamp};

use super::{
    blocks::Head,
    ended::{Ended, Event, LeftOut},
    frame::{Frame, error, kind},
    open_streams::{MOST_STREAMS, OpenStreams},
    side::{Passed, Side},
};

/// Where events go.
pub(super) type Out<'a> = dyn FnMut(Event<'_>) + 'a;

/// The end of a range of ids that is not known yet.
pub(super) const OPEN_END: u32 = u32::MAX;

/// Pairs the streams of one HTTP/2 connection.
///
/// A request is the HEADERS frame with which a client opens a stream of an odd id, larger than any before
/// (RFC 9113, section 5.1.1); its response is what the server says on the same stream. So a pair is certain where
/// no frame is missing between the two, whatever the header fields say. These are decoded for the class and the
/// status only, and to tell interim responses.
#[derive(Debug)]
pub struct Streams {
    role: Role,
    pub(super) request: Side,
    pub(super) response: Side,
    pub(super) open: OpenStreams,
    /// How many requests were seen.
    requests: u32,
    /// The largest stream id that a request was seen on.
    pub(super) highest: u32,
    /// Ids of streams whose requests may have passed unseen.
    pub(super) unseen: Range<u32>,
    /// The last of these that was told, so that it is told once.
    told: u32,
    /// The last stream that the server will answer (section 6.8).
    last_answered: u32,
}

impl Streams {
    /// A connection that is observed from its first byte, or is older than its observer.
    ///
    /// [`Role::Server`] means that requests arrive; otherwise they leave.
    pub fn new(role: Role, from_the_start: bool) -> Self {
        Self {
            role,
            request: Side::new(from_the_start),
            response: Side::new(from_the_start),
            open: OpenStreams::default(),
            requests: 0,
            highest: 0,
            unseen: 0..if from_the_start { 0 } else { OPEN_END },
            told: 0,
            last_answered: u32::MAX,
        }
    }

    /// Takes in a piece whose turn it is.
    pub(super) fn take(&mut self, frame: &Frame<'_>, out: &mut Out<'_>) {
        let passed = self.side(frame.direction).observe(frame);
        let request = self.is_request(frame.direction);
        match passed {
            Passed::Nothing => {}
            Passed::Lost => self.gap(frame.direction, out),
            Passed::Block(head) if head.kind == kind::PUSH_PROMISE => {
                if !request {
                    out(Event::LeftOut { stream: head.promised, reason: LeftOut::Push });
                }
            }
            Passed::Block(head) if request => self.request_block(&head, frame.now, out),
            Passed::Block(head) => self.response_block(&head, frame.now, out),
            Passed::Other => match frame.kind {
                kind::DATA if request => {
                    if let Some(stream) = self.open.get_mut(frame.stream) {
                        stream.request_data(frame);
                    }
                }
                kind::DATA => self.response_data(frame, out),
                kind::RST_STREAM => self.reset(frame, out),
                kind::GOAWAY => self.go_away(frame, out),
                _ => {}
            },
        }
    }

    /// The connection is over: requests that are not answered yet end as `outcome`.
    pub fn close(&mut self, now: Timestamp, outcome: Outcome, out: &mut dyn FnMut(Event<'_>)) {
        for direction in Direction::ALL {
            if self.side(direction).order.waits() {
                self.give_up(direction, out);
            }
        }
        while let Some(stream) = self.open.oldest() {
            self.end(stream, now, outcome, out);
        }
    }

    /// The exchanges that have not come to their end at `now`: requests without a response as [`Outcome::Pending`],
    /// responses as far as they have come.
    pub fn open(&self, now: Timestamp) -> impl Iterator<Item = Ended<'_>> {
        self.open.iter().filter_map(move |stream| stream.so_far(now).ok())
    }

    /// A header block of the requesting side: a request, or the trailers of one.
    fn request_block(&mut self, head: &Head, now: Timestamp, out: &mut Out<'_>) {
        if let Some(stream) = self.open.get_mut(head.stream) {
            if !stream.request.ended {
                stream.request.bytes += head.bytes;
                stream.request.last = stream.request.last.max(head.last);
                stream.request.ended = head.ends_stream;
            }
            return;
        }
        if head.stream.is_multiple_of(2) || head.stream <= self.highest {
            return;
        }
        let unsure = self.unseen.end == OPEN_END;
        if unsure && head.ends_stream && !self.request.fields.pseudo {
            return; // it may be the trailers of a request that was missed
        }
        if unsure {
            self.unseen.end = head.stream;
        }
        self.highest = head.stream;
        self.requests = self.requests.wrapping_add(1);
        if self.open.len() >= MOST_STREAMS
            && let Some(oldest) = self.open.oldest()
        {
            self.leave_out(oldest, LeftOut::TooMany, out);
        }
        if let Some(stream) = self.open.add(head.stream) {
            stream.begin(head.stream, self.requests, head.start, &self.request.fields);
            stream.request.bytes = head.bytes;
            stream.request.last = head.last;
            stream.request.ended = head.ends_stream;
        }
        if head.stream > self.last_answered {
            self.refuse(head.stream, now, out);
        }
    }

    /// A header block of the responding side.
    fn response_block(&mut self, head: &Head, now: Timestamp, out: &mut Out<'_>) {
        let Some(stream) = self.open.get_mut(head.stream) else {
            if head.ends_stream {
                self.unknown(head.stream, out);
            }
            return;
        };
        stream.response.bytes += head.bytes;
        stream.response.last = now;
        stream.response.ended = head.ends_stream;
        if !stream.response_fields(head.start, head.ends_stream, &self.response.fields) {
            self.leave_out(head.stream, LeftOut::Uncertain, out);
        } else if head.ends_stream {
            self.end(head.stream, now, Outcome::Ok, out);
        }
    }

    /// A piece of a response's content.
    fn response_data(&mut self, frame: &Frame<'_>, out: &mut Out<'_>) {
        let Some(stream) = self.open.get_mut(frame.stream) else {
            if frame.ends_stream() && frame.complete {
                self.unknown(frame.stream, out);
            }
            return;
        };
        if !stream.response_data(frame) {
            self.leave_out(frame.stream, LeftOut::Uncertain, out);
        } else if stream.response.ended {
            self.end(frame.stream, frame.now, Outcome::Ok, out);
        }
    }

    /// Somebody gives up a stream (section 6.4).
    fn reset(&mut self, frame: &Frame<'_>, out: &mut Out<'_>) {
        let request = self.is_request(frame.direction);
        let Some((now, payload)) = self.side(frame.direction).control(frame) else { return };
        let code = payload.first_chunk().map(|code| u32::from_be_bytes(*code));
        let outcome = self.given_up(request);
        let Some(stream) = self.open.get_mut(frame.stream) else {
            self.unknown(frame.stream, out);
            return;
        };
        if !request && code != Some(error::NO_ERROR) {
            stream.break_off();
        }
        self.end(frame.stream, now, outcome, out);
    }

    /// The server will not answer the later streams (section 6.8).
    fn go_away(&mut self, frame: &Frame<'_>, out: &mut Out<'_>) {
        if self.is_request(frame.direction) {
            return; // it is about streams that the server opens
        }
        let Some((now, payload)) = self.response.control(frame) else { return };
        let Some(last) = payload.first_chunk() else { return };
        self.last_answered = u32::from_be_bytes(*last) & 0x7fff_ffff;
        while let Some(stream) = self.open.newest().filter(|&stream| stream > self.last_answered) {
            self.refuse(stream, now, out);
        }
    }

    /// Ends a stream that the server has said it does nothing about, which is the same as if it had reset it with
    /// `REFUSED_STREAM` (section 8.7).
    fn refuse(&mut self, stream: u32, now: Timestamp, out: &mut Out<'_>) {
        if let Some(stream) = self.open.get_mut(stream) {
            stream.break_off();
        }
        self.end(stream, now, self.given_up(false), out);
    }

    /// Something ends a stream that is not open.
    fn unknown(&mut self, stream: u32, out: &mut Out<'_>) {
        if !stream.is_multiple_of(2) && stream != self.told && self.unseen.contains(&stream) {
            self.told = stream;
            out(Event::LeftOut { stream, reason: LeftOut::StartedBefore });
        }
    }

    fn end(&mut self, stream: u32, now: Timestamp, unanswered: Outcome, out: &mut Out<'_>) {
        let waits = self.request.order.waits();
        if let Some(open) = self.open.remove(stream) {
            if waits && !open.request.ended {
                // What waits may have been a part of it.
                out(Event::LeftOut { stream, reason: LeftOut::Uncertain });
            } else {
                out(open.event(now, unanswered));
            }
        }
    }

    pub(super) fn leave_out(&mut self, stream: u32, reason: LeftOut, out: &mut Out<'_>) {
        self.open.remove(stream);
        out(Event::LeftOut { stream, reason });
    }

    /// How a request ends that one side gave up: by the observed side, or by the other one.
    const fn given_up(&self, by_requester: bool) -> Outcome {
        if by_requester == matches!(self.role, Role::Server) { Outcome::Reset } else { Outcome::Cancelled }
    }

    /// Whether requests travel in this direction.
    pub const fn is_request(&self, direction: Direction) -> bool {
        matches!(direction, Direction::Ingress) == matches!(self.role, Role::Server)
    }

    pub(super) fn side(&mut self, direction: Direction) -> &mut Side {
        if self.is_request(direction) { &mut self.request } else { &mut self.response }
    }

    /// Whether the header fields of requests and responses can all be read.
    #[cfg(test)]
    pub(super) const fn is_certain(&self) -> (bool, bool) {
        (self.request.is_certain(), self.response.is_certain())
    }

    /// Bytes of memory for header blocks and tables, and slots for streams.
    #[cfg(test)]
    pub(super) fn held(&self) -> (usize, usize) {
        (self.request.held() + self.response.held(), self.open.held())
    }
}
