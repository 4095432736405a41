//! How an exchange ends: by its answer, by one side leaving, by nobody.

use crate::{
    Completed, Connection, Direction, Nanoseconds, Outcome, Phase, Protocol, Reason, Role, Segment, Step,
    Timestamp, TlsStage, UNKNOWN_DURATION, pairing::Change, sequence::distance,
};

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
pub(crate) struct Ending {
    /// When the response's first byte could be read, or the wait for it ended.
    pub(crate) until: Timestamp,
    pub(crate) outcome: Outcome,
}

impl Connection {
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
        step.conclude(&self.at_hand);
        step
    }

    /// Whether the segment's sender is done, also by a FIN that arrived ahead of data.
    #[inline(always)]
    pub(crate) fn finishes(&mut self, segment: &Segment) -> bool {
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
    pub(crate) fn finish(&mut self, segment: &Segment, request: bool, change: &mut Change) {
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
    pub(crate) fn reset(&mut self, segment: &Segment, request: bool, change: &mut Change) {
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
    pub(crate) fn end(&mut self, ending: Ending, step: &mut Step) {
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
        if !self.is_certain() {
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
}
