//! What a connection does about frames that are missing, or that pass in another order than that of their bytes.

use observer_common::{Direction, Place};

use super::{
    ended::LeftOut,
    frame::Frame,
    order::{Turn, readable},
    streams::{OPEN_END, Out, Streams},
};

impl Streams {
    /// Takes in what the walker saw next.
    pub fn observe(&mut self, frame: &Frame<'_>, out: &mut Out<'_>) {
        let direction = frame.direction;
        let missing = self.side(direction).order.missing(frame.number);
        if missing != 0 {
            self.miss(frame, missing, out);
        }
        if self.request.order.waits() && frame.stream > self.highest && !self.is_request(direction) {
            // Who answers has read the request: the hole before it was filled unseen.
            self.give_up(other(direction), out);
        }
        let order = &mut self.side(direction).order;
        if order.waits() && frame.place == Place::InOrder {
            self.give_up(direction, out);
        }
        match self.side(direction).order.turn(frame) {
            Turn::Now => self.take(frame, out),
            Turn::Never => {}
            Turn::Later => {
                let newest = if self.is_request(direction) { u32::MAX } else { self.highest };
                if !self.side(direction).order.hold(frame, newest) {
                    self.give_up(direction, out);
                    self.take(frame, out);
                }
            }
            Turn::Filled => {
                let asks = self.is_request(direction);
                let held = self.side(direction).order.release();
                held.each(|held| self.take(&readable(held, asks, frame.now), out));
            }
            Turn::Wrong => {
                self.side(direction).order.release();
                self.gap(direction, out);
            }
            Turn::Gap => {
                if self.side(direction).order.waits() {
                    self.give_up(direction, out);
                } else {
                    self.gap(direction, out);
                }
                self.side(direction).order.go_straight();
            }
        }
    }

    /// The walker lost its place in a direction, so that frames are missing.
    ///
    /// No open stream is certain any more, whichever direction it was: the next response may answer a request that
    /// was missed, or have been interim. Streams opened from now on are.
    pub fn gap(&mut self, direction: Direction, out: &mut Out<'_>) {
        self.gap_for(direction, u32::MAX, out);
    }

    /// The same, for streams up to this one.
    fn gap_for(&mut self, direction: Direction, newest: u32, out: &mut Out<'_>) {
        self.side(direction).lose();
        if self.is_request(direction) {
            self.unseen = self.highest.saturating_add(1)..OPEN_END;
        }
        while let Some(stream) = self.open.oldest().filter(|&stream| stream <= newest) {
            self.leave_out(stream, LeftOut::Uncertain, out);
        }
    }

    /// Takes the hole of a direction for a gap: what waited behind it goes on without what was in it.
    pub(super) fn give_up(&mut self, direction: Direction, out: &mut Out<'_>) {
        let order = &mut self.side(direction).order;
        order.give_up();
        let (held, newest) = (order.release(), order.newest());
        self.gap_for(direction, newest, out);
        held.each(|held| self.take(held, out));
    }

    /// So many pieces are missing before this one.
    fn miss(&mut self, frame: &Frame<'_>, missing: u32, out: &mut Out<'_>) {
        let direction = frame.direction;
        let waited = self.side(direction).order.waits();
        if waited {
            self.give_up(direction, out);
        }
        // The walker leaves out one number where it takes a hole for a gap.
        if !waited || missing != 1 || frame.place != Place::InOrder {
            self.gap(direction, out);
        }
        if frame.place != Place::InOrder {
            self.side(direction).order.give_up();
        }
    }
}

/// The other one.
const fn other(direction: Direction) -> Direction {
    match direction {
        Direction::Egress => Direction::Ingress,
        Direction::Ingress => Direction::Egress,
    }
}
