//! Sending copies of calls to instances.

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::{
    Engine,
    arena::{Arena, Id},
    entities::{Call, Caller, Copy, Request, Stage},
    station::Station,
};
use crate::simulation::{balancing::Instances, policy::Target};

impl Engine<'_> {
    /// A request makes a call, and the policy does what it does from the start.
    pub(super) fn call(&mut self, request: Id<Request>) {
        let caller = Caller::Client(u32::try_from(self.counts.calls).unwrap_or(u32::MAX));
        self.counts.calls += 1;
        if let Some(budget) = &mut self.budget {
            budget.earn();
        }
        let asking = &mut self.requests[request];
        asking.references += 1;
        let call = self.calls.add(Call {
            request,
            caller,
            is_over: false,
            copies: 0,
            begun: None,
            references: 0,
            last_copy: None,
            previous: asking.last_call,
        });
        asking.last_call = Some(call);
        let service = self.system.service.draw(&mut self.streams.primaries);
        let candidates = Candidates { stations: &self.stations, used: None, copies: &self.copies };
        let instance = self.balancer.choose(&candidates, &mut self.streams.balancing);
        let first = self.add_copy(call, instance, service);
        self.plan(call);
        self.send(first);
    }

    /// Sends a further copy of a call to an instance.
    pub(super) fn send_to(&mut self, call: Id<Call>, instance: u32) {
        let service = self.system.service.draw(&mut self.streams.copies);
        let copy = self.add_copy(call, instance, service);
        self.counts.extra_copies += 1;
        let request = self.calls[call].request;
        self.requests[request].extra_copies += 1;
        self.send(copy);
    }

    /// Sends a further copy of a call to an instance that has had none.
    pub(super) fn send_another(&mut self, call: Id<Call>) {
        if let Some(instance) = self.choose(call, Target::Another) {
            self.send_to(call, instance);
        }
    }

    /// An instance for a further copy of a call; none if it has to be idle and none is.
    pub(super) fn choose(&mut self, call: Id<Call>, target: Target) -> Option<u32> {
        // Once every instance has had a copy, any will do.
        let all_used = self.calls[call].copies >= self.system.instances.get();
        let used = if target == Target::Any || all_used { None } else { Some(&self.calls[call]) };
        let candidates = Candidates { stations: &self.stations, used, copies: &self.copies };
        let random = &mut self.streams.copy_balancing;
        match target {
            Target::Any | Target::Another => Some(self.balancer.choose(&candidates, random)),
            Target::Idle => any_idle(&candidates, self.system.slots.get(), random),
        }
    }

    pub(super) fn add_copy(&mut self, call: Id<Call>, instance: u32, service: Nanoseconds) -> Id<Copy> {
        let copied = &mut self.calls[call];
        let (caller, attempt) = (copied.caller, copied.copies);
        let service = match &self.conditions {
            Some(conditions) => conditions.cost(caller.attempt(attempt), instance, service),
            None => service,
        };
        let copy = self.copies.add(Copy {
            call,
            instance,
            sent: self.now,
            service,
            stage: Stage::Waiting,
            attempt,
            is_under_way: true,
            is_told: !self.is_watched || matches!(caller, Caller::Other(_)),
            previous: copied.last_copy,
        });
        copied.last_copy = Some(copy);
        copied.copies += 1;
        copied.references += 1;
        copy
    }
}

/// One of the allowed instances that have a free slot, evenly.
fn any_idle(instances: &impl Instances, slots: u32, random: &mut Pcg64) -> Option<u32> {
    let idle = (0..instances.count())
        .filter(|instance| instances.allows(*instance) && instances.in_flight(*instance) < slots);
    let mut chosen = None;
    for (before, instance) in (1_u32..).zip(idle) {
        if random.random_range(0..before) == 0 {
            chosen = Some(instance);
        }
    }
    chosen
}

/// Where a copy may go.
pub(super) struct Candidates<'a> {
    pub(super) stations: &'a [Station],
    /// The call whose copies' instances are not allowed.
    pub(super) used: Option<&'a Call>,
    pub(super) copies: &'a Arena<Copy>,
}

impl Instances for Candidates<'_> {
    #[expect(clippy::cast_possible_truncation, reason = "the number of instances has 32 bits")]
    fn count(&self) -> u32 {
        self.stations.len() as u32
    }

    fn in_flight(&self, instance: u32) -> u32 {
        self.stations[instance as usize].in_flight()
    }

    fn allows(&self, instance: u32) -> bool {
        let mut copy = self.used.and_then(|call| call.last_copy);
        while let Some(id) = copy {
            if self.copies[id].instance == instance {
                return false;
            }
            copy = self.copies[id].previous;
        }
        true
    }

    fn allowed(&self) -> u32 {
        // Copies went to different instances as long as there were some left.
        self.count() - self.used.map_or(0, |call| call.copies)
    }
}
