//! The state machine that turns segments into exchanges.
//!
//! Requests travel one way, responses the other; which way is which follows from the [`Role`]. A response
//! begins with the first payload byte after a request that the application could read, and ends with the last
//! one before the next request. The time between a response and the next request belongs to nobody.
//!
//! Everything here runs under the connection's lock in the kernel, so it calls nothing and loops over nothing.

use crate::{
    Connection, Direction, HEAD_LENGTH, HeadKind, Outcome, Phase, Protocol, Reason, Role, Segment, Step,
    ending::Ending,
    payload::Payload,
    sequence::{distance, later},
};

/// What a segment changes about the current exchange.
pub(crate) struct Change {
    pub(crate) ends: Option<Ending>,
    /// Bytes of a new request; 0 where none begins.
    pub(crate) begins: u32,
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
                Phase::Requesting => matches!(self.protocol, Protocol::Http1) || self.is_unseen(),
                // Who speaks first, says who he is.
                Phase::Idle => self.number == 0 && matches!(self.protocol, Protocol::Unknown),
                _ => false,
            }
        }
    }

    /// Whether even a few of them would.
    #[inline(always)]
    pub fn asks_for_few(&self, direction: Direction) -> bool {
        !self.is_request(direction)
            && matches!(self.protocol, Protocol::Http1)
            && self.asks_for_head(direction)
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
        step.conclude(&self.at_hand);
        step
    }

    /// New payload from the side that asks.
    #[inline(always)]
    fn request_payload(&mut self, segment: &Segment, payload: &Payload, change: &mut Change) {
        let fresh = payload.fresh;
        let begins =
            matches!(self.at_hand.head(), HeadKind::HttpRequest) && !matches!(self.protocol, Protocol::Other);
        match self.phase {
            Phase::Idle => {
                if !self.begins_proxied() {
                    change.begins = fresh;
                }
            }
            Phase::Requesting if self.may_be_answered() => {
                // It may as well go on with the last one: both are doubtful.
                self.flags |= Self::OVERLAPPING;
                change.ends = Some(Ending { until: segment.now, outcome: Outcome::Ok });
                change.begins = fresh;
            }
            Phase::Requesting => {
                // A second request line while the first is unanswered: from here on nothing is certain.
                if begins && (matches!(self.protocol, Protocol::Http1) || self.is_unseen()) {
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
                } else if self.is_proxied() && !self.meet() {
                    // It answers what came in one segment with the proxy's header.
                } else if self.flags & Self::PUSHED == 0 {
                    self.flags |= Self::PUSHED;
                    let reason = if self.is_proxied() { Reason::Overlapping } else { Reason::Push };
                    self.at_hand.doubt(reason);
                }
            }
            Phase::Requesting => {
                if (self.is_unseen() && !self.meet()) || self.is_interim() {
                    return;
                }
                self.doubt_hidden_answer();
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
                self.status = self.at_hand.status();
                self.at_hand.note(Step::ANSWERED);
            }
            Phase::Responding => {
                if self.may_be_asked() {
                    self.flags |= Self::OVERLAPPING; // it may answer another request
                }
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
}
