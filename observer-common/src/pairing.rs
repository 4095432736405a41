//! The state machine that turns segments into exchanges.
//!
//! Requests travel one way, responses the other; which way is which follows from the [`Role`]. A response
//! begins with the first payload byte after a request that the application could read, and ends with the last
//! one before the next request. The time between a response and the next request belongs to nobody.
//!
//! Everything here runs under the connection's lock in the kernel, so it calls nothing and loops over nothing.

use crate::{
    Connection, Direction, HEAD_LENGTH, Head, Nanoseconds, Outcome, Phase, Protocol, Reason, Role, Segment,
    Timestamp, UNKNOWN_DURATION,
    sequence::{distance, later},
};

/// An exchange that is over, as far as the conversation itself tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Its number on the connection, from 1.
    pub number: u32,
    /// Segments seen again meanwhile.
    pub retransmits: u32,
    /// First request byte.
    pub start: Timestamp,
    /// From the start to the last request byte.
    pub sent: Nanoseconds,
    /// From the start to the first response byte, or how long was waited for it.
    pub latency: Nanoseconds,
    /// From the start to the last response byte.
    pub complete: Nanoseconds,
    /// From the first response byte until it was looked at, or [`UNKNOWN_DURATION`].
    pub read_lag: Nanoseconds,
    /// Payload of the request.
    pub request_bytes: u64,
    /// Payload of the response.
    pub response_bytes: u64,
    /// The protocol's status, 0 where there is none.
    pub status: u32,
    /// The protocol.
    pub protocol: Protocol,
    /// How it ended.
    pub outcome: Outcome,
}

/// What one segment brought about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The exchange that it ended; all zero where it ended none. Not an `Option`: the verifier refuses to copy
    /// the undefined bytes of a `None`.
    exchange: Completed,
    /// Whether it ended an exchange.
    ended: bool,
    /// What it showed that is no certain pair.
    pub uncertain: Option<Reason>,
}

impl Step {
    /// The exchange that the segment ended.
    #[inline(always)]
    pub const fn completed(&self) -> Option<&Completed> {
        if self.ended { Some(&self.exchange) } else { None }
    }
}

/// How a connection went away where no segment told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The observed side closed it.
    Here,
    /// Nobody did: TCP, or whoever watches, gave up.
    GaveUp,
}

/// How the current exchange ends.
#[derive(Clone, Copy)]
struct Ending {
    /// When the response's first byte could be read, or the wait for it ended.
    until: Timestamp,
    outcome: Outcome,
}

/// What a segment changes about the current exchange.
struct Change {
    ends: Option<Ending>,
    /// Bytes of a new request; 0 where none begins.
    begins: u32,
}

/// What the sequence numbers say about a segment's payload.
struct Payload {
    /// How many bytes it shows to exist that were not known before: its own, and those of a gap in front of it.
    fresh: u32,
    /// Whether it made new bytes readable, in order.
    readable: bool,
    /// How far it starts ahead of the next byte expected; negative where it begins with bytes seen before.
    ahead: i32,
}

/// No window is larger (RFC 7323, section 2.2: 2³⁰ bytes).
const BEYOND_ANY_WINDOW: u32 = 1 << 30;

impl Payload {
    const OLD: Self = Self { fresh: 0, readable: false, ahead: -1 };
}

impl Connection {
    /// Whether [`Segment::received`] would tell something for an arriving segment that starts at `start`.
    ///
    /// It would where data has arrived ahead of a gap (the stack knows which gaps are filled), and where data
    /// arrives that was seen before (the stack may have had no room for it then).
    #[inline(always)]
    pub fn asks_for_received(&self, start: u32) -> bool {
        self.flags & Self::GAP != 0
            || (self.flags & Self::RECEIVED_KNOWN != 0 && distance(start, self.received_next) > 0)
    }

    /// Whether the first payload bytes of a segment in this direction would tell something.
    #[inline(always)]
    pub fn asks_for_head(&self, direction: Direction) -> bool {
        if self.is_request(direction) {
            !matches!(self.phase, Phase::Opaque)
        } else {
            matches!(self.protocol, Protocol::Http1) && matches!(self.phase, Phase::Requesting)
        }
    }

    /// Whether requests travel in this direction.
    #[inline(always)]
    pub fn is_request(&self, direction: Direction) -> bool {
        matches!(
            (self.role, direction),
            (Role::Client, Direction::Egress) | (Role::Server, Direction::Ingress)
        )
    }

    /// Takes in one segment that carries payload, FIN or RST.
    ///
    /// A segment ends at most one exchange and begins at most one, in this order; both are done in one place, since
    /// the kernel compiles every call anew.
    #[inline(always)]
    pub fn observe(&mut self, segment: &Segment) -> Step {
        let mut step = Step::default();
        if !self.is_observed() {
            return step;
        }
        let mut segment = *segment;
        let request = self.is_request(segment.direction);
        let mut change = Change { ends: None, begins: 0 };
        if self.flags & Self::GAP != 0
            && matches!(segment.direction, Direction::Ingress)
            && let Some(received) = segment.received
        {
            // The stack knows which gaps have been filled.
            self.received_next = later(self.received_next, received);
        }
        if segment.length != 0 {
            let payload = match segment.direction {
                Direction::Egress => self.sent_payload(&segment),
                Direction::Ingress => self.received_payload(&segment),
            };
            if payload.ahead < 0 {
                segment.head = Head::Unknown; // it is the head of bytes seen before
            } else if payload.ahead > 0 {
                segment.head = Head::Other; // the head is still to come
            }
            if request {
                if payload.fresh != 0 {
                    self.request_payload(&segment, &payload, &mut change, &mut step);
                } else if payload.readable && matches!(self.phase, Phase::Requesting) {
                    self.sent = segment.now; // it filled a gap
                }
            } else {
                self.response_bytes = self.response_bytes.wrapping_add(u64::from(payload.fresh));
                // What leaves was in order by definition; what arrives counts once it can be read.
                if payload.readable {
                    self.response_payload(&segment, &mut step);
                } else if payload.fresh != 0 && matches!(self.phase, Phase::Responding) {
                    self.last = segment.now;
                }
            }
        }
        if change.begins == 0 {
            if segment.flags.rst() {
                self.reset(&segment, request, &mut change);
            } else if self.finishes(&segment) {
                self.finish(&segment, request, &mut change);
            }
        }
        if let Some(ending) = change.ends {
            self.end(ending, &mut step);
        }
        if change.begins != 0 {
            self.begin(&segment, change.begins, &mut step);
            if request && segment.flags.fin() {
                self.requester_done = segment.now;
            }
        }
        step
    }

    /// The connection is gone, and what is still open ends with it.
    #[inline(always)]
    pub fn close(&mut self, now: Timestamp, closed: Closed) -> Step {
        let mut step = Step::default();
        if !self.is_observed() {
            return step;
        }
        let here = matches!(closed, Closed::Here);
        let left = self.requester_done.0 != 0;
        let ending = match self.phase {
            Phase::Requesting if left => {
                Ending { until: self.requester_done, outcome: self.requester_left() }
            }
            Phase::Requesting if here => Ending { until: now, outcome: Outcome::Cancelled },
            Phase::Requesting => Ending { until: now, outcome: Outcome::Timeout },
            // It had closed for good, so nobody read the response: the stack refused it.
            Phase::Responding if left && here && self.is_unread() => {
                Ending { until: self.requester_done, outcome: self.requester_left() }
            }
            Phase::Responding => Ending { until: self.first, outcome: Outcome::Ok },
            _ => return step,
        };
        self.end(ending, &mut step);
        step
    }

    /// Payload that leaves. The stack sends in order, so only the end matters.
    #[inline(always)]
    fn sent_payload(&mut self, segment: &Segment) -> Payload {
        if self.flags & Self::SENT_KNOWN == 0 {
            self.flags |= Self::SENT_KNOWN;
            self.sent_next = segment.start();
        }
        let fresh = distance(self.sent_next, segment.end());
        if fresh <= 0 {
            self.retransmits = self.retransmits.wrapping_add(1);
            return Payload::OLD;
        }
        let ahead = distance(self.sent_next, segment.start());
        self.sent_next = segment.end();
        // A first segment that skips ahead carries no more than its own length.
        let fresh =
            if fresh.cast_unsigned() > segment.length { segment.length } else { fresh.cast_unsigned() };
        Payload { fresh, readable: true, ahead }
    }

    /// Payload that arrives: in order, ahead of a gap, or again.
    #[inline(always)]
    fn received_payload(&mut self, segment: &Segment) -> Payload {
        let (start, end) = (segment.start(), segment.end());
        if self.flags & Self::RECEIVED_KNOWN == 0 {
            self.flags |= Self::RECEIVED_KNOWN;
            self.received_next = start;
            self.received_end = start;
        }
        let ahead = distance(self.received_next, start);
        if ahead.unsigned_abs() >= BEYOND_ANY_WINDOW {
            return Payload::OLD; // corrupt, or of an earlier connection: the stack will refuse it
        }
        if ahead < 0 {
            self.received_again(segment);
            if distance(self.received_next, end) <= 0 {
                return Payload::OLD;
            }
        }
        let fresh = distance(self.received_end, end);
        let fresh = if fresh < 0 { 0 } else { fresh.cast_unsigned() };
        self.received_end = later(self.received_end, end);
        if ahead > 0 {
            self.flags |= Self::GAP;
            return Payload { fresh, readable: false, ahead };
        }
        self.received_next = end;
        if self.received_next == self.received_end {
            self.flags &= !Self::GAP;
        }
        Payload { fresh, readable: true, ahead }
    }

    /// A segment that begins with bytes that arrived before. Where the stack has not accepted them yet (it had no
    /// room: zero window, full buffer), they become readable only now, so their times are taken anew.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers wrap, and so may the difference")]
    fn received_again(&mut self, segment: &Segment) {
        let (start, end) = (segment.start(), segment.end());
        let keep_alive_probe =
            segment.length == 1 && end == self.received_next && segment.received == Some(end);
        if !keep_alive_probe {
            self.retransmits = self.retransmits.wrapping_add(1);
        }
        let Some(received) = segment.received else { return };
        if distance(start, received) < 0 || distance(received, end) <= 0 {
            return;
        }
        if self.is_request(Direction::Ingress) {
            if matches!(self.phase, Phase::Requesting) {
                self.sent = segment.now;
            }
        } else if matches!(self.phase, Phase::Responding) {
            // Was the first byte of this response among what the stack did not have?
            let begin = self.received_end.wrapping_sub(self.response_bytes as u32);
            if self.response_bytes <= u64::from(u32::MAX >> 1) && distance(received, begin) >= 0 {
                self.first = segment.now;
            }
            self.last = segment.now;
        }
    }

    /// New payload from the side that asks.
    #[inline(always)]
    fn request_payload(
        &mut self,
        segment: &Segment,
        payload: &Payload,
        change: &mut Change,
        step: &mut Step,
    ) {
        let fresh = payload.fresh;
        let begins = matches!(segment.head, Head::HttpRequest) && !matches!(self.protocol, Protocol::Other);
        match self.phase {
            Phase::Idle => change.begins = fresh,
            Phase::Requesting => {
                // A second request line while the first is unanswered: from here on nothing is certain.
                if begins && matches!(self.protocol, Protocol::Http1) {
                    self.flags |= Self::PIPELINED | Self::OVERLAPPING;
                }
                self.more_request(segment, fresh);
            }
            Phase::Responding => {
                // Too few bytes, or bytes behind a gap, do not tell what begins.
                let known = !matches!(segment.head, Head::Unknown)
                    && segment.length as usize >= HEAD_LENGTH
                    && payload.ahead == 0;
                if known && !begins && self.status != 101 && matches!(self.protocol, Protocol::Http1) {
                    // The rest of a request that was answered early, or a method that is not known here.
                    self.flags |= Self::OVERLAPPING;
                    self.more_request(segment, fresh);
                } else {
                    change.ends = Some(Ending { until: self.first, outcome: Outcome::Ok });
                    change.begins = fresh;
                }
            }
            Phase::Unsynchronised => {
                if begins {
                    change.begins = fresh;
                } else {
                    self.phase = Phase::Synchronising;
                    self.flags |= Self::ASKED;
                    step.uncertain = Some(Reason::StartedBefore);
                }
            }
            Phase::Synchronising => {
                // A request behind a response: the first certain boundary.
                if begins || self.flags & Self::ASKED == 0 {
                    change.begins = fresh;
                }
            }
            Phase::Opaque => {
                if self.flags & Self::ASKED == 0 {
                    self.flags |= Self::ASKED;
                    step.uncertain = Some(self.opaque_reason());
                }
            }
        }
    }

    #[inline(always)]
    fn more_request(&mut self, segment: &Segment, fresh: u32) {
        self.sent = segment.now;
        self.request_bytes = self.request_bytes.wrapping_add(u64::from(fresh));
    }

    /// New payload from the side that answers, in order.
    #[inline(always)]
    fn response_payload(&mut self, segment: &Segment, step: &mut Step) {
        match self.phase {
            Phase::Idle => {
                if self.flags & Self::PUSHED == 0 {
                    self.flags |= Self::PUSHED;
                    step.uncertain = Some(Reason::Push);
                }
            }
            Phase::Requesting => {
                let status = match segment.head {
                    Head::HttpResponse(status) => status,
                    _ => 0,
                };
                let http = matches!(self.protocol, Protocol::Http1);
                if http && matches!(status, 100 | 102..=199) {
                    // An interim response announces the real one (RFC 9110, section 15.2).
                    self.response_bytes = 0;
                    return;
                }
                if http && status == 0 && !matches!(segment.head, Head::Unknown) {
                    if self.number == 1 {
                        // The connection's very first response is none of HTTP's.
                        self.protocol = Protocol::Other;
                    } else {
                        // Not the beginning of a response: what is left of an earlier one.
                        self.flags |= Self::OVERLAPPING;
                    }
                }
                if let Some(acknowledged) = segment.acknowledged
                    && distance(self.request_sequence, acknowledged) <= 0
                {
                    // It left before the request had arrived: the rest of an earlier answer, or unasked.
                    self.flags |= Self::OVERLAPPING;
                }
                if segment.now < self.start {
                    self.phase = Phase::Idle;
                    step.uncertain = Some(Reason::NegativeDuration);
                    return;
                }
                self.phase = Phase::Responding;
                self.first = segment.now;
                self.last = segment.now;
                self.status = u32::from(status);
            }
            Phase::Responding => {
                if segment.now > self.last {
                    self.last = segment.now;
                }
            }
            Phase::Unsynchronised => {
                self.phase = Phase::Synchronising;
                self.flags &= !Self::ASKED;
                step.uncertain = Some(Reason::StartedBefore);
            }
            Phase::Synchronising | Phase::Opaque => self.flags &= !Self::ASKED,
        }
    }

    /// A request begins with this segment.
    #[inline(always)]
    fn begin(&mut self, segment: &Segment, fresh: u32, step: &mut Step) {
        match segment.head {
            Head::HttpRequest if !matches!(self.protocol, Protocol::Other) => self.protocol = Protocol::Http1,
            Head::TlsRecord if matches!(self.protocol, Protocol::Unknown) => {
                self.protocol = Protocol::Tls;
            }
            Head::Http2Preface => self.protocol = Protocol::Http2,
            _ => {}
        }
        let uncertain = self.flags & Self::PIPELINED != 0
            || (matches!(self.protocol, Protocol::Http1) && matches!(segment.head, Head::Other));
        self.flags &= !(Self::OVERLAPPING | Self::PUSHED);
        if uncertain {
            self.flags |= Self::OVERLAPPING;
        }
        self.retransmits = 0;
        self.requester_done = Timestamp(0);
        self.response_bytes = 0;
        self.status = 0;
        if matches!(self.protocol, Protocol::Tls | Protocol::Http2 | Protocol::Upgraded) {
            self.phase = Phase::Opaque;
            self.flags |= Self::ASKED;
            // The step may already tell how the exchange before ended; this turn is told all the same.
            step.uncertain = Some(self.opaque_reason());
            return;
        }
        self.number = self.number.wrapping_add(1);
        self.phase = Phase::Requesting;
        self.request_sequence = segment.start();
        self.start = segment.now;
        self.sent = segment.now;
        self.request_bytes = u64::from(fresh);
    }

    /// Whether the segment's sender is done, also by a FIN that arrived ahead of data.
    #[inline(always)]
    fn finishes(&mut self, segment: &Segment) -> bool {
        let fin = segment.flags.fin();
        if matches!(segment.direction, Direction::Ingress) {
            if fin
                && self.flags & Self::RECEIVED_KNOWN != 0
                && distance(self.received_next, segment.end()) > 0
            {
                self.flags |= Self::FIN_WAITS;
                self.fin_sequence = segment.end();
                return false;
            }
            if self.flags & Self::FIN_WAITS != 0 && distance(self.received_next, self.fin_sequence) <= 0 {
                self.flags &= !Self::FIN_WAITS;
                return true;
            }
        }
        fin
    }

    /// One side is done.
    #[inline(always)]
    fn finish(&mut self, segment: &Segment, request: bool, change: &mut Change) {
        let left = self.requester_done.0 != 0;
        if request {
            // It may have closed for good or only for writing: a response may still come.
            if !left && matches!(self.phase, Phase::Requesting) {
                self.requester_done = segment.now;
            }
            return;
        }
        change.ends = match self.phase {
            // Nobody answers, and nobody waits any more: the requester left first.
            Phase::Requesting if left => {
                Some(Ending { until: self.requester_done, outcome: self.requester_left() })
            }
            Phase::Requesting => Some(Ending { until: segment.now, outcome: self.responder_left() }),
            Phase::Responding => Some(Ending { until: self.first, outcome: Outcome::Ok }),
            _ => None,
        };
    }

    /// RST.
    #[inline(always)]
    fn reset(&mut self, segment: &Segment, request: bool, change: &mut Change) {
        let left = self.requester_done.0 != 0;
        change.ends = match self.phase {
            Phase::Requesting if !request => {
                Some(Ending { until: segment.now, outcome: self.responder_left() })
            }
            Phase::Requesting if !left => Some(Ending { until: segment.now, outcome: self.requester_left() }),
            // It had closed for good, and the response that it refuses came too late.
            Phase::Requesting | Phase::Responding if request && left => {
                Some(Ending { until: self.requester_done, outcome: self.requester_left() })
            }
            Phase::Responding => Some(Ending { until: self.first, outcome: Outcome::Ok }),
            _ => None,
        };
    }

    /// Ends the current exchange.
    #[inline(always)]
    fn end(&mut self, ending: Ending, step: &mut Step) {
        let Ending { until, outcome } = ending;
        self.phase = Phase::Idle;
        if matches!(self.protocol, Protocol::Http1) && self.status == 101 {
            self.protocol = Protocol::Upgraded;
        }
        if self.flags & Self::OVERLAPPING != 0 {
            step.uncertain = Some(Reason::Overlapping);
            return;
        }
        step.ended = self.fill(until, outcome, &mut step.exchange);
        if !step.ended {
            step.uncertain = Some(Reason::NegativeDuration);
        }
    }

    /// The current exchange as it stands, first answered or waited for at `until`; nothing where the clocks of
    /// two processors disagree.
    pub fn current(&self, until: Timestamp, outcome: Outcome) -> Option<Completed> {
        let mut exchange = Completed::default();
        if self.fill(until, outcome, &mut exchange) { Some(exchange) } else { None }
    }

    #[inline(always)]
    fn fill(&self, until: Timestamp, outcome: Outcome, exchange: &mut Completed) -> bool {
        let answered = matches!(outcome, Outcome::Ok);
        let start = self.start.0;
        if until.0 < start || self.sent.0 < start || (answered && self.last.0 < start) {
            return false;
        }
        exchange.number = self.number;
        exchange.retransmits = self.retransmits;
        exchange.start = self.start;
        exchange.sent = Nanoseconds(self.sent.0.wrapping_sub(start));
        exchange.latency = Nanoseconds(until.0.wrapping_sub(start));
        exchange.complete =
            if answered { Nanoseconds(self.last.0.wrapping_sub(start)) } else { UNKNOWN_DURATION };
        exchange.read_lag = if answered && self.read_number == self.number && self.read.0 >= self.first.0 {
            Nanoseconds(self.read.0.wrapping_sub(self.first.0))
        } else {
            UNKNOWN_DURATION
        };
        exchange.request_bytes = self.request_bytes;
        exchange.response_bytes = self.response_bytes;
        exchange.status = self.status;
        exchange.protocol = self.protocol;
        exchange.outcome = outcome;
        true
    }

    /// Whether the application has not looked yet at the response that has arrived.
    #[inline(always)]
    pub fn is_unread(&self) -> bool {
        matches!(self.role, Role::Client)
            && matches!(self.phase, Phase::Responding)
            && self.read_number != self.number
    }

    /// The application looked at the response. Runs without the lock: only the reader writes these fields.
    #[inline(always)]
    pub fn read(&mut self, now: Timestamp) {
        self.read = now;
        self.read_number = self.number;
    }

    #[inline(always)]
    fn requester_left(&self) -> Outcome {
        if matches!(self.role, Role::Client) { Outcome::Cancelled } else { Outcome::Reset }
    }

    #[inline(always)]
    fn responder_left(&self) -> Outcome {
        if matches!(self.role, Role::Client) { Outcome::Reset } else { Outcome::Cancelled }
    }

    #[inline(always)]
    fn opaque_reason(&self) -> Reason {
        match self.protocol {
            Protocol::Tls => Reason::Tls,
            Protocol::Http2 => Reason::Http2,
            _ => Reason::Upgraded,
        }
    }
}
