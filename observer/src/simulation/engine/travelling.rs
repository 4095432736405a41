//! Copies on their way: to an instance, refused by it, and back.
//!
//! What only conditions need is marked as cold, so that a run without any stays as fast as if there could be none.

use observer_common::{Nanoseconds, Outcome};

use super::{
    Engine,
    arena::Id,
    entities::{Caller, Copy, Stage},
    events::Event,
    station::Station,
};
use crate::simulation::conditions::{Attempt, Path};

impl Engine<'_> {
    /// A copy leaves.
    #[inline]
    pub(super) fn send(&mut self, copy: Id<Copy>) {
        if self.conditions.is_some() {
            self.send_on_its_path(copy);
        } else {
            self.admit(copy);
        }
    }

    #[cold]
    fn send_on_its_path(&mut self, copy: Id<Copy>) {
        let there = self.path(copy).there;
        if there == Nanoseconds(0) {
            return self.admit(copy);
        }
        self.copies[copy].stage = Stage::Travelling;
        self.events.schedule(self.now.after(there), Event::Reach(copy));
    }

    /// A copy reaches its instance, unless it was dropped on its way.
    #[cold]
    pub(super) fn reach(&mut self, copy: Id<Copy>) {
        if self.copies[copy].stage.is_over() {
            return self.release_call(self.copies[copy].call);
        }
        self.copies[copy].stage = Stage::Waiting;
        self.admit(copy);
    }

    /// After which time a copy that arrives now is refused, if it is.
    #[cold]
    pub(super) fn refusal(&mut self, copy: Id<Copy>) -> Option<Nanoseconds> {
        let conditions = self.conditions.as_mut()?;
        let instance = self.copies[copy].instance;
        let waiting = match &self.stations[instance as usize] {
            // Where a slot is free, nothing has to wait.
            Station::Queue(queue) if queue.serving() >= self.system.slots.get() => Some(queue.waiting()),
            Station::Queue(_) | Station::Sharing(_) => None,
        };
        conditions.refusal(instance, waiting, self.now)
    }

    /// An instance refuses a copy. The client learns it by an event even if that is now: it may still be sending.
    #[cold]
    pub(super) fn refuse(&mut self, copy: Id<Copy>, after: Nanoseconds) {
        if self.is_clients(copy) {
            self.counts.refused += 1;
        }
        self.copies[copy].stage = Stage::Refused;
        let back = self.path(copy).back;
        self.events.schedule(self.now.after(after).after(back), Event::Return(copy));
    }

    /// Whether the connection of a copy was reset while that waited.
    #[cold]
    pub(super) fn is_reset_while_waiting(&mut self, copy: Id<Copy>) -> bool {
        let Copy { instance, sent, .. } = self.copies[copy];
        let reached = sent.after(self.path(copy).there);
        let now = self.now;
        let conditions = self.conditions.as_mut();
        conditions.and_then(|all| all.reset(instance, sent, reached, now)).is_some_and(|at| at <= now)
    }

    #[cold]
    pub(super) fn reset_waiting(&mut self, copy: Id<Copy>) {
        if self.is_clients(copy) {
            self.counts.dropped_waiting += 1;
        }
        self.copies[copy].stage = Stage::Reset;
        let back = self.path(copy).back;
        self.events.schedule(self.now.after(back), Event::Return(copy));
    }

    /// An instance is done with a copy, and the client hears of it.
    #[inline]
    pub(super) fn send_back(&mut self, copy: Id<Copy>, ended: Stage) {
        self.copies[copy].stage = ended;
        if self.conditions.is_some() {
            self.send_back_on_its_path(copy);
        } else {
            self.tell(copy, Outcome::Ok);
            self.answer(copy);
        }
    }

    #[cold]
    fn send_back_on_its_path(&mut self, copy: Id<Copy>) {
        let back = self.path(copy).back;
        if back == Nanoseconds(0) {
            return self.arrive_back(copy);
        }
        self.calls[self.copies[copy].call].references += 1;
        self.events.schedule(self.now.after(back), Event::Return(copy));
    }

    /// What an instance sent back has arrived.
    #[cold]
    pub(super) fn come_back(&mut self, copy: Id<Copy>) {
        self.arrive_back(copy);
        self.release_call(self.copies[copy].call);
    }

    fn arrive_back(&mut self, copy: Id<Copy>) {
        let outcome = if self.copies[copy].stage == Stage::Reset { Outcome::Reset } else { Outcome::Ok };
        self.tell(copy, outcome);
        let read = match &mut self.conditions {
            // Other clients have readers of their own.
            Some(conditions) if matches!(self.calls[self.copies[copy].call].caller, Caller::Client(_)) => {
                conditions.read(self.now)
            }
            _ => self.now,
        };
        if read == self.now {
            return self.answer(copy);
        }
        self.calls[self.copies[copy].call].references += 1;
        self.events.schedule(read, Event::Read(copy));
    }

    /// The client reads what has arrived before.
    #[cold]
    pub(super) fn read(&mut self, copy: Id<Copy>) {
        self.answer(copy);
        self.release_call(self.copies[copy].call);
    }

    /// The way of a copy to its instance and back.
    pub(super) fn path(&mut self, copy: Id<Copy>) -> Path {
        let attempt = self.attempt(copy);
        let Copy { instance, sent, .. } = self.copies[copy];
        match &mut self.conditions {
            Some(conditions) => conditions.path(attempt, instance, sent),
            None => Path::default(),
        }
    }

    /// A copy, as conditions know it.
    pub(super) fn attempt(&self, copy: Id<Copy>) -> Attempt {
        let Copy { call, attempt, .. } = self.copies[copy];
        self.calls[call].caller.attempt(attempt)
    }

    fn is_clients(&self, copy: Id<Copy>) -> bool {
        matches!(self.calls[self.copies[copy].call].caller, Caller::Client(_))
    }
}
