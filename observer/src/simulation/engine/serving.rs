//! What instances do with copies.

use observer_common::{Nanoseconds, Outcome};

use super::{
    Engine,
    arena::Id,
    entities::{Caller, Copy, Stage},
    events::Event,
    queue::Next,
    station::Station,
};
use crate::simulation::{
    moment::Moment,
    policy::{Cancellation, Tactic},
};

impl Engine<'_> {
    /// A copy arrives at its instance.
    pub(super) fn admit(&mut self, copy: Id<Copy>) {
        let place = self.copies[copy].instance as usize;
        if self.conditions.is_some()
            && let Some(refused_after) = self.refusal(copy)
        {
            return self.refuse(copy, refused_after);
        }
        match &mut self.stations[place] {
            Station::Queue(queue) if queue.serving() < self.system.slots.get() => {
                queue.begin();
                self.begin_in_slot(copy);
            }
            Station::Queue(queue) => {
                queue.wait(copy);
                self.waiting += 1;
            }
            Station::Sharing(_) => {
                self.begin(copy);
                self.begin_sharing(copy);
            }
        }
    }

    /// A slot has served a copy, or has long been serving another because this one was dropped.
    pub(super) fn slot_is_done(&mut self, copy: Id<Copy>) {
        match self.copies[copy].stage {
            Stage::Served => {
                self.free_slot(self.copies[copy].instance);
                self.send_back(copy, Stage::Over);
            }
            Stage::Doomed => {
                self.free_slot(self.copies[copy].instance);
                self.send_back(copy, Stage::Reset);
            }
            _ => {}
        }
        self.release_call(self.copies[copy].call);
    }

    /// Whatever a copy waited for beside its instance is there, unless it was dropped meanwhile.
    #[cold]
    pub(super) fn resume(&mut self, copy: Id<Copy>) {
        let Copy { call, instance, stage, .. } = self.copies[copy];
        if stage != Stage::Aside {
            return self.release_call(call);
        }
        self.copies[copy].stage = Stage::Served;
        if let Station::Sharing(sharing) = &mut self.stations[instance as usize] {
            sharing.take_from_aside();
        }
        self.share(copy);
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
            self.send_back(copy, Stage::Over);
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
        if matches!(self.copies[copy].stage, Stage::Waiting | Stage::Travelling) {
            self.drop_copy(copy);
            self.copies[copy].is_under_way = false;
            let call = self.copies[copy].call;
            if self.calls[call].is_over {
                self.tell(copy, Outcome::Cancelled);
            } else {
                // The one that has begun may have failed already.
                self.fail(call);
            }
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
    #[inline]
    pub(super) fn give_up(&mut self, copy: Id<Copy>) {
        let Copy { call, stage, is_under_way, .. } = self.copies[copy];
        let Cancellation::After(delay) = self.policy.cancellation else {
            if !is_under_way {
                self.tell(copy, Outcome::Cancelled);
            }
            return;
        };
        self.tell(copy, Outcome::Cancelled);
        if !stage.is_over() {
            self.calls[call].references += 1;
            self.events.schedule(self.now.after(delay), Event::Cancel(copy));
        }
    }

    fn drop_copy(&mut self, copy: Id<Copy>) {
        let Copy { stage, instance, .. } = self.copies[copy];
        if stage.is_over() {
            return;
        }
        self.copies[copy].stage = Stage::Over;
        match stage {
            Stage::Travelling => self.counts.dropped_waiting += 1,
            Stage::Waiting => {
                self.counts.dropped_waiting += 1;
                self.waiting -= 1;
                if let Station::Queue(queue) = &mut self.stations[instance as usize] {
                    queue.drop_waiting();
                }
            }
            Stage::Aside => {
                self.counts.dropped_served += 1;
                if let Station::Sharing(sharing) = &mut self.stations[instance as usize] {
                    sharing.take_from_aside();
                }
            }
            Stage::Served | Stage::Doomed => {
                self.counts.dropped_served += 1;
                self.free_slot(instance);
            }
            Stage::Over | Stage::Refused | Stage::Reset => {}
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
            match queue.next(|copy| copies[copy].stage.is_over()) {
                Some(Next::Waiting(copy)) => {
                    self.waiting -= 1;
                    if self.conditions.is_some() && self.is_reset_while_waiting(copy) {
                        self.reset_waiting(copy);
                        continue;
                    }
                    if let Station::Queue(queue) = &mut self.stations[place] {
                        queue.begin();
                    }
                    return self.begin_in_slot(copy);
                }
                Some(Next::Dropped(copy)) => self.release_call(self.copies[copy].call),
                None => return,
            }
        }
    }

    fn begin_in_slot(&mut self, copy: Id<Copy>) {
        self.begin(copy);
        let end = match self.conditions {
            Some(_) => self.end_in_slot(copy),
            None => self.now.after(self.copies[copy].service),
        };
        self.events.schedule(end, Event::Served(copy));
    }

    /// When a slot is done with a copy that begins now under the conditions that there are.
    #[cold]
    fn end_in_slot(&mut self, copy: Id<Copy>) -> Moment {
        let Copy { instance, service, sent, .. } = self.copies[copy];
        let reached = sent.after(self.path(copy).there);
        let (attempt, now) = (self.attempt(copy), self.now);
        let Some(conditions) = &mut self.conditions else { return now.after(service) };
        let begun = now.after(conditions.dependency(attempt, instance, now));
        let end = conditions.work_ends(instance, begun, service);
        match conditions.reset(instance, sent, reached, end) {
            Some(reset) => {
                self.copies[copy].stage = Stage::Doomed;
                reset.max(now)
            }
            None => end,
        }
    }

    fn begin_sharing(&mut self, copy: Id<Copy>) {
        if self.conditions.is_none() {
            return self.share(copy);
        }
        let (attempt, instance) = (self.attempt(copy), self.copies[copy].instance);
        let wait = match &mut self.conditions {
            Some(conditions) => conditions.dependency(attempt, instance, self.now),
            None => Nanoseconds(0),
        };
        if wait == Nanoseconds(0) {
            return self.share(copy);
        }
        if let Station::Sharing(sharing) = &mut self.stations[instance as usize] {
            sharing.set_aside();
        }
        self.copies[copy].stage = Stage::Aside;
        self.events.schedule(self.now.after(wait), Event::Resume(copy));
    }

    fn share(&mut self, copy: Id<Copy>) {
        let Copy { instance, service, .. } = self.copies[copy];
        if let Station::Sharing(sharing) = &mut self.stations[instance as usize] {
            sharing.begin(copy, service, self.now);
        }
        self.schedule_shared(instance as usize);
    }

    fn begin(&mut self, copy: Id<Copy>) {
        let begun = &mut self.copies[copy];
        begun.stage = Stage::Served;
        let (call, instance) = (begun.call, begun.instance);
        if matches!(self.calls[call].caller, Caller::Client(_)) {
            self.counts.executions[instance as usize] += 1;
        }
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
            if matches!(self.copies[id].stage, Stage::Waiting | Stage::Travelling) {
                self.calls[call].references += 1;
                self.events.schedule(self.now.after(message), Event::Untie(id));
            }
        }
    }

    fn schedule_shared(&mut self, place: usize) {
        loop {
            let Station::Sharing(sharing) = &mut self.stations[place] else { return };
            let copies = &self.copies;
            let Some(dropped) = sharing.take_dropped(|copy| copies[copy].stage.is_over()) else { break };
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
