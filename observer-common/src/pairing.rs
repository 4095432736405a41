//! The state machine that turns segments into exchanges.
//!
//! Requests travel one way, responses the other; which way is which follows from the [`Role`]. A response
//! begins with the first payload byte after a request that the application could read, and ends with the last
//! one before the next request. The time between a response and the next request belongs to nobody.
//!
//! Everything here runs under the connection's lock in the kernel, so it calls nothing and loops over nothing.

use crate::{
    Connection, Direction, HEAD_LENGTH, HeadKind, Nanoseconds, Outcome, Phase, Protocol, Reason, Role,
    Segment, Timestamp, TlsStage, UNKNOWN_DURATION,
    payload::Payload,
    sequence::{distance, later},
};

/// An exchange that is over, as far as the conversation itself tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct Completed {
    /// Its number on the connection, from 1.
    pub number: u32,
    /// Segments that were seen again between the first request byte and the last response byte.
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
    /// The protocol.
    pub protocol: Protocol,
    /// How it ended.
    pub outcome: Outcome,
    /// Which side of the connection was observed.
    pub role: Role,
    /// Keeps the layout free of holes.
    pub reserved: [u8; 5],
}

/// What one segment brought about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The exchange that it ended; all zero where it ended none. Not an `Option`: the verifier refuses to copy
    /// the undefined bytes of a `None`.
    exchange: Completed,
    flags: u8,
    reasons: [u8; 2],
}

impl Step {
    pub(crate) const ENDED: u8 = 1;
    pub(crate) const ASKED: u8 = 1 << 1;
    pub(crate) const ANSWERED: u8 = 1 << 2;
    pub(crate) const HEAD: u8 = 1 << 3;
    pub(crate) const HELLO: u8 = 1 << 4;
    pub(crate) const OPENS: u8 = 1 << 5;
    pub(crate) const WHOLE: u8 = 1 << 6;

    /// The exchange that the segment ended.
    #[inline(always)]
    pub const fn completed(&self) -> Option<&Completed> {
        if self.flags & Self::ENDED != 0 { Some(&self.exchange) } else { None }
    }

    /// The indices of the reasons why what it showed is no certain pair, 0 where there is none: at most one for
    /// what ended, and one for what began.
    #[inline(always)]
    pub const fn reasons(&self) -> [u8; 2] {
        self.reasons
    }

    /// What it showed that is no certain pair.
    pub fn uncertain(&self) -> impl Iterator<Item = Reason> {
        self.reasons.into_iter().filter(|index| *index != 0).filter_map(|index| Reason::at(index.into()))
    }

    /// Whether a request begins with it.
    #[inline(always)]
    pub const fn asked(&self) -> bool {
        self.flags & Self::ASKED != 0
    }

    /// Whether a response begins with it.
    #[inline(always)]
    pub const fn answered(&self) -> bool {
        self.flags & Self::ANSWERED != 0
    }

    /// Whether its first byte is the first one of that message.
    #[inline(always)]
    pub const fn shows_head(&self) -> bool {
        self.flags & Self::HEAD != 0
    }

    /// Whether a client of TLS says hello with it, and records follow from here on.
    #[inline(always)]
    pub const fn says_hello(&self) -> bool {
        self.flags & Self::HELLO != 0
    }

    /// Whether frames of HTTP/2 follow from here on.
    #[inline(always)]
    pub const fn opens_frames(&self) -> bool {
        self.flags & Self::OPENS != 0
    }

    /// Where they do: whether nothing of the connection came before.
    #[inline(always)]
    pub const fn is_whole(&self) -> bool {
        self.flags & Self::WHOLE != 0
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
            match self.phase {
                Phase::Requesting => matches!(self.protocol, Protocol::Http1),
                // Who speaks first, says who he is.
                Phase::Idle => self.number == 0 && matches!(self.protocol, Protocol::Unknown),
                _ => false,
            }
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
        self.at_hand.clear();
        self.at_hand.take(segment);
        let request = self.is_request(segment.direction);
        let mut change = Change { ends: None, begins: 0 };
        if self.flags & Self::GAP != 0
            && matches!(segment.direction, Direction::Ingress)
            && let Some(received) = self.at_hand.received()
        {
            // The stack knows which gaps have been filled.
            self.received_next = later(self.received_next, received);
        }
        if segment.length != 0 {
            let payload = match segment.direction {
                Direction::Egress => self.sent_payload(segment),
                Direction::Ingress => self.received_payload(segment),
            };
            if payload.ahead == 0 {
                self.at_hand.note(Step::HEAD);
            }
            if payload.ahead < 0 {
                self.at_hand.set_head(HeadKind::Unknown); // it is the head of bytes seen before
            } else if payload.ahead > 0 {
                self.at_hand.set_head(HeadKind::Other); // the head is still to come
            }
            if self.at_hand.is_silent() {
                // It asks nothing and answers nothing; that it passed is all there is to know.
            } else if request {
                if payload.fresh != 0 {
                    self.request_payload(segment, &payload, &mut change);
                } else if payload.readable && matches!(self.phase, Phase::Requesting) {
                    self.sent = segment.now; // it filled a gap
                }
            } else {
                self.response_bytes = self.response_bytes.wrapping_add(u64::from(payload.fresh));
                // What leaves was in order by definition; what arrives counts once it can be read.
                if payload.readable {
                    self.response_payload(segment);
                } else if payload.fresh != 0 && matches!(self.phase, Phase::Responding) {
                    self.last = segment.now;
                }
            }
        }
        if change.begins == 0 {
            if segment.flags.rst() {
                self.reset(segment, request, &mut change);
            } else if self.finishes(segment) {
                self.finish(segment, request, &mut change);
            }
        }
        if let Some(ending) = change.ends {
            self.end(ending, &mut step);
        }
        if change.begins != 0 {
            self.begin(segment, change.begins);
            if request && segment.flags.fin() {
                self.requester_done = segment.now;
            }
        }
        step.flags = self.at_hand.flags();
        step.reasons = self.at_hand.reasons();
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
        self.at_hand.clear();
        self.end(ending, &mut step);
        step.flags = self.at_hand.flags();
        step.reasons = self.at_hand.reasons();
        step
    }

    /// New payload from the side that asks.
    #[inline(always)]
    fn request_payload(&mut self, segment: &Segment, payload: &Payload, change: &mut Change) {
        let fresh = payload.fresh;
        let begins =
            matches!(self.at_hand.head(), HeadKind::HttpRequest) && !matches!(self.protocol, Protocol::Other);
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
                let known = !matches!(self.at_hand.head(), HeadKind::Unknown)
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
                    self.at_hand.doubt(Reason::StartedBefore);
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
                    let reason = self.opaque_reason();
                    self.at_hand.doubt(reason);
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
    fn response_payload(&mut self, segment: &Segment) {
        match self.phase {
            Phase::Idle => {
                if matches!(self.at_hand.head(), HeadKind::MysqlGreeting) && self.number == 0 {
                    self.protocol = Protocol::Mysql;
                    self.at_hand.doubt(Reason::Handshake);
                } else if self.flags & Self::PUSHED == 0 {
                    self.flags |= Self::PUSHED;
                    self.at_hand.doubt(Reason::Push);
                }
            }
            Phase::Requesting => {
                let status = self.at_hand.status();
                let http = matches!(self.protocol, Protocol::Http1);
                if http && matches!(status, 100 | 102..=199) {
                    // An interim response announces the real one (RFC 9110, section 15.2).
                    self.response_bytes = 0;
                    return;
                }
                if http && status == 0 && !matches!(self.at_hand.head(), HeadKind::Unknown) {
                    if self.number == 1 {
                        // The connection's very first response is none of HTTP's.
                        self.protocol = Protocol::Other;
                    } else {
                        // Not the beginning of a response: what is left of an earlier one.
                        self.flags |= Self::OVERLAPPING;
                    }
                }
                if let Some(acknowledged) = self.at_hand.acknowledged()
                    && distance(self.request_sequence, acknowledged) <= 0
                {
                    // It left before the request had arrived: the rest of an earlier answer, or unasked.
                    self.flags |= Self::OVERLAPPING;
                }
                if segment.now < self.start {
                    self.phase = Phase::Idle;
                    self.at_hand.doubt(Reason::NegativeDuration);
                    return;
                }
                self.phase = Phase::Responding;
                self.first = segment.now;
                self.last = segment.now;
                self.status = status;
                self.at_hand.note(Step::ANSWERED);
            }
            Phase::Responding => {
                if segment.now > self.last {
                    self.last = segment.now;
                }
            }
            Phase::Unsynchronised => {
                self.phase = Phase::Synchronising;
                self.flags &= !Self::ASKED;
                self.at_hand.doubt(Reason::StartedBefore);
            }
            Phase::Synchronising | Phase::Opaque => self.flags &= !Self::ASKED,
        }
    }

    /// A request begins with this segment.
    #[inline(always)]
    fn begin(&mut self, segment: &Segment, fresh: u32) {
        match self.at_hand.head() {
            HeadKind::HttpRequest if !matches!(self.protocol, Protocol::Other | Protocol::Mysql) => {
                self.protocol = Protocol::Http1;
            }
            // MySQL begins with a greeting and then asks for encryption.
            HeadKind::TlsRecord if matches!(self.protocol, Protocol::Unknown | Protocol::Mysql) => {
                self.protocol = Protocol::Tls;
                if self.number == 0 {
                    self.begin_tls(segment);
                    return;
                }
            }
            HeadKind::Http2Preface => {
                self.begin_http2(segment);
                return;
            }
            _ => {}
        }
        let uncertain = self.flags & Self::PIPELINED != 0
            || (matches!(self.protocol, Protocol::Http1) && matches!(self.at_hand.head(), HeadKind::Other));
        self.flags &= !(Self::OVERLAPPING | Self::PUSHED);
        if uncertain {
            self.flags |= Self::OVERLAPPING;
        }
        self.retransmits = 0;
        self.requester_done = Timestamp(0);
        self.response_bytes = 0;
        self.status = 0;
        if matches!(self.protocol, Protocol::Http2 | Protocol::Upgraded)
            || (matches!(self.protocol, Protocol::Tls) && matches!(self.tls, TlsStage::None))
        {
            self.phase = Phase::Opaque;
            self.flags |= Self::ASKED;
            // The step may already tell how the exchange before ended; this turn is told all the same.
            let reason = self.opaque_reason();
            self.at_hand.doubt(reason);
            return;
        }
        self.at_hand.note(Step::ASKED);
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
        self.tell_end(until, outcome, step);
        if matches!(self.protocol, Protocol::Http1) && self.status == 101 {
            self.protocol = Protocol::Upgraded;
        }
    }

    #[inline(always)]
    fn tell_end(&mut self, until: Timestamp, outcome: Outcome, step: &mut Step) {
        if matches!(self.tls, TlsStage::Tickets) {
            // Its answer may begin with tickets.
            self.tls = TlsStage::Modern;
            self.at_hand.doubt(Reason::Tls);
            return;
        }
        if self.flags & Self::OVERLAPPING != 0 {
            self.at_hand.doubt(Reason::Overlapping);
            return;
        }
        let outcome = self.at_hand.outcome(outcome);
        if self.fill(until, outcome, &mut step.exchange) {
            self.at_hand.note(Step::ENDED);
        } else {
            self.at_hand.doubt(Reason::NegativeDuration);
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
        exchange.protocol = self.protocol;
        exchange.outcome = outcome;
        exchange.role = self.role;
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
