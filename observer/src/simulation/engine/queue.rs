//! An instance with slots, where those that came later wait.

use std::collections::VecDeque;

use super::{arena::Id, entities::Copy};

/// Slots, and a queue before them.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Copies that wait; those that were dropped are still in it.
    copies: VecDeque<Id<Copy>>,
    waiting: u32,
    serving: u32,
}

impl Queue {
    pub(super) const fn in_flight(&self) -> u32 {
        self.waiting + self.serving
    }

    /// How many wait.
    pub(super) const fn waiting(&self) -> u32 {
        self.waiting
    }

    /// How many are being served.
    pub(super) const fn serving(&self) -> u32 {
        self.serving
    }

    /// Takes a slot.
    pub(super) const fn begin(&mut self) {
        self.serving += 1;
    }

    /// Gives a slot back.
    pub(super) const fn end(&mut self) {
        self.serving -= 1;
    }

    /// Waits.
    pub(super) fn wait(&mut self, copy: Id<Copy>) {
        self.copies.push_back(copy);
        self.waiting += 1;
    }

    /// One that waits was dropped.
    pub(super) const fn drop_waiting(&mut self) {
        self.waiting -= 1;
    }

    /// Whose turn it is; it may have been dropped, and then does not count as waiting.
    pub(super) fn next(&mut self, was_dropped: impl FnOnce(Id<Copy>) -> bool) -> Option<Next> {
        let copy = self.copies.pop_front()?;
        if was_dropped(copy) {
            return Some(Next::Dropped(copy));
        }
        self.waiting -= 1;
        Some(Next::Waiting(copy))
    }
}

/// What comes next in a queue.
#[derive(Debug)]
pub(super) enum Next {
    Waiting(Id<Copy>),
    Dropped(Id<Copy>),
}
