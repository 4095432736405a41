//! What instances do with copies.

use observer_common::Nanoseconds;

use super::{
    Engine,
    arena::Id,
    entities::{Copy, Stage},
    events::Event,
    queue::Next,
    station::Station,
};
use crate::simulation::policy::{Cancellation, Tactic};

impl Engine<'_> {
    /// A copy arrives at its instance.
    pub(super) fn admit(&mut self, copy: Id<Copy>) {
        let place = self.copies[copy].instance as usize;
        match &mut self.stations[place] {
            Station::Queue(queue) if queue.serving() < self.system.slots.get() => {
                queue.begin();
                self.begin_in_slot(copy);
            }
            Station::Queue(queue) => {
                queue.wait(copy);
                self.waiting += 1;
            }
            Station::Sharing(sharing) => {
                sharing.begin(copy, self.copies[copy].service, self.now);
                self.begin(copy);
                self.schedule_shared(place);
            }
        }
    }

    /// A slot has served a copy, or has long been serving another because this one was dropped.
    pub(super) fn slot_is_done(&mut self, copy: Id<Copy>) {
        if self.copies[copy].stage == Stage::Served {
            self.free_slot(self.copies[copy].instance);
            self.answer(copy);
        }
        self.release_call(self.copies[copy].call);
    }

    /// An instance that shares its processor may have served copies.
    pub(super) fn share_is_done(&mut self, instance: u32) {
        let place = instance as usize;
        let Station::Sharing(sharing) = &mut self.stations[place] else { return };
        if !sharing.is_expected(self.now) {
            return;
        }
        let served = sharing.take_served(self.now);
        self.schedule_shared(place);
        if let Some(copy) = served {
            self.answer(copy);
            self.release_call(self.copies[copy].call);
        }
    }

    /// An instance learns that nobody needs a copy.
    pub(super) fn cancel(&mut self, copy: Id<Copy>) {
        self.drop_copy(copy);
        self.release_call(self.copies[copy].call);
    }

    /// An instance learns that the other one of two tied copies has begun.
    pub(super) fn untie(&mut self, copy: Id<Copy>) {
        if self.copies[copy].stage == Stage::Waiting {
            self.drop_copy(copy);
        }
        self.release_call(self.copies[copy].call);
    }

    /// Lets instances know that nobody needs the copies of a call any more, as far as they are told.
    pub(super) fn give_up_all(&mut self, last: Option<Id<Copy>>) {
        let mut copy = last;
        while let Some(id) = copy {
            copy = self.copies[id].previous;
            self.give_up(id);
        }
    }

    /// Lets an instance know that nobody needs a copy any more, if it is told.
    pub(super) fn give_up(&mut self, copy: Id<Copy>) {
        let Copy { call, stage, .. } = self.copies[copy];
        if let Cancellation::After(delay) = self.policy.cancellation
            && stage != Stage::Over
        {
            self.calls[call].references += 1;
            self.events.schedule(self.now.after(delay), Event::Cancel(copy));
        }
    }

    fn drop_copy(&mut self, copy: Id<Copy>) {
        let Copy { stage, instance, .. } = self.copies[copy];
        self.copies[copy].stage = Stage::Over;
        match stage {
            Stage::Waiting => {
                self.counts.dropped_waiting += 1;
                self.waiting -= 1;
                if let Station::Queue(queue) = &mut self.stations[instance as usize] {
                    queue.drop_waiting();
                }
            }
            Stage::Served => {
                self.counts.dropped_served += 1;
                self.free_slot(instance);
            }
            Stage::Over => {}
        }
    }

    /// A slot becomes free and serves whoever waits, or the others are served faster from now on.
    fn free_slot(&mut self, instance: u32) {
        let place = instance as usize;
        match &mut self.stations[place] {
            Station::Queue(queue) => {
                queue.end();
                self.serve_next(place);
            }
            Station::Sharing(sharing) => {
                sharing.drop_one(self.now);
                self.schedule_shared(place);
            }
        }
    }

    fn serve_next(&mut self, place: usize) {
        while let Station::Queue(queue) = &mut self.stations[place] {
            let copies = &self.copies;
            match queue.next(|copy| copies[copy].stage == Stage::Over) {
                Some(Next::Waiting(copy)) => {
                    queue.begin();
                    self.waiting -= 1;
                    return self.begin_in_slot(copy);
                }
                Some(Next::Dropped(copy)) => self.release_call(self.copies[copy].call),
                None => return,
            }
        }
    }

    fn begin_in_slot(&mut self, copy: Id<Copy>) {
        self.begin(copy);
        let end = self.now.after(self.copies[copy].service);
        self.events.schedule(end, Event::Served(copy));
    }

    fn begin(&mut self, copy: Id<Copy>) {
        let begun = &mut self.copies[copy];
        begun.stage = Stage::Served;
        let (call, instance) = (begun.call, begun.instance);
        self.counts.executions[instance as usize] += 1;
        if self.calls[call].begun.is_none() {
            self.calls[call].begun = Some(self.now);
            if let Tactic::Tied { message } = self.policy.tactic {
                self.tell_tied_copies(copy, message);
            }
        }
    }

    fn tell_tied_copies(&mut self, begun: Id<Copy>, message: Nanoseconds) {
        let call = self.copies[begun].call;
        let mut copy = self.calls[call].last_copy;
        while let Some(id) = copy {
            copy = self.copies[id].previous;
            if self.copies[id].stage == Stage::Waiting {
                self.calls[call].references += 1;
                self.events.schedule(self.now.after(message), Event::Untie(id));
            }
        }
    }

    fn schedule_shared(&mut self, place: usize) {
        loop {
            let Station::Sharing(sharing) = &mut self.stations[place] else { return };
            let copies = &self.copies;
            let Some(dropped) = sharing.take_dropped(|copy| copies[copy].stage == Stage::Over) else { break };
            self.release_call(self.copies[dropped].call);
        }
        let Station::Sharing(sharing) = &mut self.stations[place] else { return };
        if let Some(end) = sharing.expect() {
            #[expect(clippy::cast_possible_truncation, reason = "the number of instances has 32 bits")]
            let event = Event::Shared { instance: place as u32 };
            self.events.schedule(end, event);
        }
    }
}
