//! What the policy does about calls, and when.

use observer_common::Nanoseconds;
use rand::RngExt;

use super::{Engine, arena::Id, entities::Call, events::Event};
use crate::simulation::{
    Share,
    policy::{Hedge, Tactic},
};

impl Engine<'_> {
    /// What the policy does once the first copy of a call has been sent.
    pub(super) fn plan(&mut self, call: Id<Call>) {
        match self.policy.tactic {
            Tactic::Hedge(Hedge { delay, .. }) | Tactic::Retry { timeout: delay, .. } => {
                self.look_after(call, delay);
            }
            Tactic::AtOnce { copies } if copies.get() > 1 => self.look_after(call, Nanoseconds(0)),
            Tactic::Single | Tactic::AtOnce { .. } => {}
            Tactic::Tied { message } => self.look_after(call, Nanoseconds(message.0.saturating_mul(2))),
        }
    }

    /// Time has passed, and the call may have no answer yet.
    pub(super) fn look(&mut self, call: Id<Call>) {
        if !self.calls[call].is_over {
            match self.policy.tactic {
                Tactic::Single => {}
                Tactic::Hedge(hedge) => self.hedge(call, &hedge),
                Tactic::AtOnce { copies } => {
                    (1..copies.get()).for_each(|_| self.send_another(call));
                }
                Tactic::Tied { message } => self.send_tied(call, message),
                Tactic::Retry { timeout, .. } => self.retry(call, timeout),
            }
        }
        self.release_call(call);
    }

    fn look_after(&mut self, call: Id<Call>, delay: Nanoseconds) {
        self.calls[call].references += 1;
        self.events.schedule(self.now.after(delay), Event::Look(call));
    }

    fn hedge(&mut self, call: Id<Call>, hedge: &Hedge) {
        let coin = hedge.probability == Share::ALL
            || self.streams.coins.random::<f64>() < hedge.probability.as_fraction();
        if !coin {
            return;
        }
        let limit = |depth: u32| u64::from(depth) * u64::from(self.system.instances.get());
        if hedge.off_above.is_some_and(|depth| self.waiting > limit(depth.0)) {
            self.counts.denied.overload += 1;
            return;
        }
        let sent = self.requests[self.calls[call].request].extra_copies;
        if hedge.per_request.is_some_and(|most| sent >= most.get()) {
            self.counts.denied.per_request += 1;
            return;
        }
        // An instance is chosen before a token is taken: what cannot be sent must not cost any.
        let Some(instance) = self.choose(call, hedge.target) else {
            self.counts.denied.no_idle += 1;
            return;
        };
        if self.budget.as_mut().is_some_and(|budget| !budget.take()) {
            self.counts.denied.budget += 1;
            return;
        }
        self.send_to(call, instance);
    }

    /// The first copy may have begun so long ago that the second would be dropped as soon as it came, or its message may
    /// be on its way.
    fn send_tied(&mut self, call: Id<Call>, message: Nanoseconds) {
        let known = self.calls[call].begun.map(|begun| begun.after(message));
        if known.is_some_and(|known| known <= self.now) {
            return;
        }
        self.send_another(call);
        if let (Some(known), Some(second)) = (known, self.calls[call].last_copy) {
            self.calls[call].references += 1;
            self.events.schedule(known, Event::Untie(second));
        }
    }

    fn retry(&mut self, call: Id<Call>, timeout: Nanoseconds) {
        if let Some(late) = self.calls[call].last_copy {
            self.give_up(late);
        }
        if u64::from(self.calls[call].copies) < self.policy.most_copies() {
            self.send_another(call);
            self.look_after(call, timeout);
        } else {
            let request = self.calls[call].request;
            self.requests[request].failed = true;
            self.end_call(call);
        }
    }
}
