//! An instance that serves all copies at once.
//!
//! It has a time of its own, which advances as fast as each copy is served: at the full rate with no more copies than
//! slots, slower with more. A copy is served once that time has advanced by its service time, whatever came and went
//! meanwhile.

use std::{cmp::Reverse, collections::BinaryHeap};

use observer_common::Nanoseconds;

use super::{arena::Id, entities::Copy};
use crate::simulation::moment::Moment;

/// In which parts of a nanosecond an instance's own time is counted, so that little is lost where it advances slowly.
const FINE: u128 = 1 << 20;

/// Copies that share an instance.
#[derive(Debug)]
pub(super) struct Sharing {
    slots: u32,
    serving: u32,
    /// How many wait for something else, and take no share meanwhile.
    aside: u32,
    own_time: u128,
    at: Moment,
    /// When copies are served, in its own time; those that were dropped are still in it.
    ends: BinaryHeap<Reverse<(u128, Id<Copy>)>>,
    /// When it is next looked at: not after the next one is served, perhaps before.
    expected: Option<Moment>,
}

impl Sharing {
    pub(super) fn new(slots: u32) -> Self {
        Self {
            slots,
            serving: 0,
            aside: 0,
            own_time: 0,
            at: Moment(0),
            ends: BinaryHeap::new(),
            expected: None,
        }
    }

    /// How many are being served, or will be.
    pub(super) const fn in_flight(&self) -> u32 {
        self.serving + self.aside
    }

    /// One begins to wait for something else.
    pub(super) const fn set_aside(&mut self) {
        self.aside += 1;
    }

    /// One waits no longer.
    pub(super) const fn take_from_aside(&mut self) {
        self.aside -= 1;
    }

    /// Whether it is now that it was to be looked at; it then is not expected any more.
    pub(super) fn is_expected(&mut self, now: Moment) -> bool {
        self.expected.take_if(|expected| *expected == now).is_some()
    }

    /// When it has to be looked at, unless it will be before anyway: one that comes later only delays the others, and
    /// needs no new date.
    pub(super) fn expect(&mut self) -> Option<Moment> {
        let end = self.next_end()?;
        if self.expected.is_some_and(|expected| expected <= end) {
            return None;
        }
        self.expected = Some(end);
        Some(end)
    }

    /// Begins to serve another one.
    pub(super) fn begin(&mut self, copy: Id<Copy>, service: Nanoseconds, now: Moment) {
        self.advance(now);
        self.ends.push(Reverse((self.own_time + u128::from(service.0) * FINE, copy)));
        self.serving += 1;
    }

    /// One was dropped.
    pub(super) fn drop_one(&mut self, now: Moment) {
        self.advance(now);
        self.serving -= 1;
    }

    /// Takes out one that was dropped, if it would be next.
    pub(super) fn take_dropped(&mut self, was_dropped: impl FnOnce(Id<Copy>) -> bool) -> Option<Id<Copy>> {
        let Reverse((_, copy)) = *self.ends.peek()?;
        was_dropped(copy).then(|| self.ends.pop()).flatten().map(|_| copy)
    }

    /// Takes out one that is served by now.
    pub(super) fn take_served(&mut self, now: Moment) -> Option<Id<Copy>> {
        self.advance(now);
        let Reverse((end, copy)) = *self.ends.peek()?;
        if end > self.own_time {
            return None;
        }
        self.ends.pop();
        self.serving -= 1;
        Some(copy)
    }

    /// When the next one is served, if nothing changes before.
    fn next_end(&self) -> Option<Moment> {
        let Reverse((end, _)) = self.ends.peek()?;
        // Time is whole nanoseconds, so that its own may have run past the end a little: past two of them at once.
        let left = end.saturating_sub(self.own_time) * self.sharers();
        let wait = left.div_ceil(u128::from(self.slots) * FINE);
        Some(self.at.after(Nanoseconds(u64::try_from(wait).unwrap_or(u64::MAX))))
    }

    /// Among how many the slots are shared; nobody has more than one.
    fn sharers(&self) -> u128 {
        u128::from(self.serving.max(self.slots))
    }

    fn advance(&mut self, now: Moment) {
        let passed = u128::from(now.since(self.at).0);
        // Rounded up: what is lost would make ends late by a whole nanosecond, what is won is far below one.
        self.own_time += (passed * FINE * u128::from(self.slots)).div_ceil(self.sharers());
        self.at = now;
    }
}
