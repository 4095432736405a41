//! Answers, and what follows from them.

use super::{
    Engine,
    arena::Id,
    entities::{Call, Caller, Copy, Request},
};
use crate::simulation::{moment::Moment, outcome::SLICES, policy::Tactic};

impl Engine<'_> {
    /// The client reads what became of a copy: its call has an answer, unless nobody waits for this one or it is none.
    pub(super) fn answer(&mut self, copy: Id<Copy>) {
        let answered = &mut self.copies[copy];
        answered.is_under_way = false;
        let (id, is_first, is_failure) =
            (answered.call, answered.previous.is_none(), answered.stage.is_failure());
        let (instance, latency) = (answered.instance, self.now.since(answered.sent));
        let call = &self.calls[id];
        if let Caller::Other(other) = call.caller {
            return self.others[usize::from(other.load)].learn(instance, latency, self.now);
        }
        self.balancer.learn(instance, latency, self.now);
        // Whoever retries has stopped listening to the copies before the last.
        let was_given_up = matches!(self.policy.tactic, Tactic::Retry { .. }) && call.last_copy != Some(copy);
        if call.is_over || was_given_up {
            return;
        }
        if is_failure {
            return self.fail(id);
        }
        self.counts.won_by_copies += u64::from(!is_first);
        let last = call.last_copy;
        self.give_up_all(last);
        self.end_call(id);
    }

    /// A copy that was waited for will not answer: so its call has failed, unless another copy may still answer.
    #[cold]
    pub(super) fn fail(&mut self, call: Id<Call>) {
        let failed = &self.calls[call];
        let last = failed.last_copy;
        let may_still_answer = match self.policy.tactic {
            // The copies before the last were given up.
            Tactic::Retry { .. } => false,
            // What is sent at once may not have been sent yet.
            Tactic::AtOnce { copies } if failed.copies < copies.get() => true,
            _ => self.has_copy_under_way(last),
        };
        if may_still_answer {
            return;
        }
        let request = self.calls[call].request;
        self.requests[request].failed = true;
        self.give_up_all(last);
        self.end_call(call);
    }

    fn has_copy_under_way(&self, last: Option<Id<Copy>>) -> bool {
        let mut copy = last;
        while let Some(id) = copy {
            if self.copies[id].is_under_way {
                return true;
            }
            copy = self.copies[id].previous;
        }
        false
    }

    /// Nobody waits for a call any more; perhaps its request is over with it.
    pub(super) fn end_call(&mut self, call: Id<Call>) {
        self.calls[call].is_over = true;
        let id = self.calls[call].request;
        let request = &mut self.requests[id];
        request.waits_for -= 1;
        if request.waits_for == 0 {
            self.counts.failed += u64::from(request.failed);
            self.end_request(id);
        }
    }

    /// A request's time is up: it is answered with what is there.
    pub(super) fn deadline(&mut self, request: Id<Request>) {
        if self.requests[request].waits_for > 0 {
            self.counts.partial += 1;
            let mut call = self.requests[request].last_call;
            while let Some(id) = call {
                let cut_off = &mut self.calls[id];
                call = cut_off.previous;
                if !cut_off.is_over {
                    cut_off.is_over = true;
                    let last = cut_off.last_copy;
                    self.give_up_all(last);
                }
            }
            self.end_request(request);
        }
        self.release_request(request);
    }

    fn end_request(&mut self, request: Id<Request>) {
        let over = &self.requests[request];
        let (arrived, was_hedged) = (over.arrived, over.extra_copies > 0);
        let latency = self.now.since(arrived);
        if was_hedged { &mut self.hedged } else { &mut self.unhedged }.record(latency);
        let slice = self.slice(arrived);
        self.over_time[slice].record(latency);
        self.schedule_thoughtful_arrival();
    }

    /// In which part of the time a request arrived.
    fn slice(&self, arrived: Moment) -> usize {
        let since_start = u128::from(arrived.since(Moment::default()).0);
        (since_start * SLICES as u128 / u128::from(self.extent.duration.0)) as usize
    }
}
