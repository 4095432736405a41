//! The simulation itself: one loop over one heap of events.
//!
//! Requests, calls and copies lie in arenas and know how many events, copies or calls still refer to them; when none
//! does, their places are used again. So nothing is searched and nothing is allocated for an event.

mod answering;
mod arena;
mod entities;
mod events;
mod others;
mod patience;
mod queue;
mod seeing;
mod sending;
mod serving;
mod sharing;
mod station;
mod travelling;

use observer_common::Nanoseconds;

use self::{
    arena::{Arena, Id},
    entities::{Call, Copy, Request},
    events::{Event, Events},
    others::Others,
    station::Station,
};
use super::{
    Arrivals, Conditions, Policy, Seen, System, Tactic,
    arrivals::OpenLoop,
    balancing::Balancer,
    budget::TokenBucket,
    conditions::Prepared,
    moment::Moment,
    outcome::{Counts, Outcome, Population, SLICES},
    random::{Streams, exponential},
    rounding::nanoseconds,
};
use crate::ledger::Distribution;

/// How much is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// In which time requests arrive. Then none arrives, and all that have are answered.
    pub duration: Nanoseconds,
    /// How many requests arrive at most.
    pub requests: u64,
}

/// Simulates what becomes of the requests to a system with a policy. The same arguments give the same outcome.
///
/// It always ends: requests are bounded, and so are the copies of each.
pub fn simulate(system: &System, policy: &Policy, extent: Extent, seed: u64) -> Outcome {
    let mut engine = Engine::new(system, policy, extent, seed);
    engine.run();
    engine.into_outcome()
}

/// The same under conditions, which [`Conditions::check`] finds possible, and shows what a probe beside the client would
/// see of each copy. A copy that was sent while requests could arrive and is not over then is seen as pending; what is
/// sent later is not seen.
///
/// With other clients it ends only if the time in which requests arrive does, or the requests reach their bound.
pub fn simulate_seen(
    system: &System,
    conditions: &Conditions,
    policy: &Policy,
    extent: Extent,
    seed: u64,
    show: &mut dyn FnMut(Seen),
) -> Outcome {
    let mut engine = Engine::new(system, policy, extent, seed).under(conditions, seed).seen_by(show);
    engine.run();
    engine.into_outcome()
}

struct Engine<'a> {
    system: &'a System,
    policy: &'a Policy,
    extent: Extent,
    now: Moment,
    events: Events,
    streams: Streams,
    open_loop: Option<OpenLoop>,
    balancer: Balancer,
    budget: Option<TokenBucket>,
    stations: Vec<Station>,
    /// Copies that wait, at all instances.
    waiting: u64,
    requests: Arena<Request>,
    calls: Arena<Call>,
    copies: Arena<Copy>,
    unhedged: Population,
    hedged: Population,
    over_time: Vec<Distribution>,
    counts: Counts,
    reached_bound: bool,
    /// Nothing where there are none, so that a run without them pays nothing for it.
    conditions: Option<Box<Prepared<'a>>>,
    others: Vec<Others>,
    show: Option<&'a mut dyn FnMut(Seen)>,
    /// Whether what is sent is seen.
    is_watched: bool,
}

impl<'a> Engine<'a> {
    fn new(system: &'a System, policy: &'a Policy, extent: Extent, seed: u64) -> Self {
        let instances = system.instances.get();
        let mut streams = Streams::new(seed);
        let budget = match policy.tactic {
            Tactic::Hedge(hedge) => hedge.budget.as_ref().map(TokenBucket::new),
            _ => None,
        };
        Self {
            system,
            policy,
            extent,
            now: Moment::default(),
            events: Events::default(),
            open_loop: OpenLoop::new(&system.arrivals, &mut streams.arrivals),
            streams,
            balancer: Balancer::new(system.balancing, instances),
            budget,
            stations: (0..instances).map(|_| Station::new(system.discipline, system.slots.get())).collect(),
            waiting: 0,
            requests: Arena::new(),
            calls: Arena::new(),
            copies: Arena::new(),
            unhedged: Population::default(),
            hedged: Population::default(),
            over_time: vec![Distribution::default(); SLICES],
            counts: Counts { executions: vec![0; instances as usize], ..Counts::default() },
            reached_bound: false,
            conditions: None,
            others: Vec::new(),
            show: None,
            is_watched: false,
        }
    }

    fn under(mut self, conditions: &'a Conditions, seed: u64) -> Self {
        if *conditions != Conditions::default() {
            let System { instances, width, .. } = *self.system;
            let prepared = Prepared::new(conditions, instances, width, self.end(), seed);
            self.conditions = Some(Box::new(prepared));
            self.balancer = self.balancer.weighted(&conditions.weights);
            self.others = Others::all(&conditions.others, self.system, self.end(), seed);
        }
        self
    }

    /// When the time is up in which requests arrive.
    const fn end(&self) -> Moment {
        Moment(self.extent.duration.0)
    }

    fn run(&mut self) {
        self.schedule_first_arrivals();
        (0..).zip(0..self.others.len()).for_each(|(load, _)| self.schedule_other(load));
        if self.is_watched {
            self.events.schedule(self.end(), Event::LookAway);
        }
        while let Some((now, event)) = self.events.next() {
            self.now = now;
            match event {
                Event::Arrive => self.arrive(),
                Event::ArriveOther { load } => self.arrive_other(load),
                Event::Reach(copy) => self.reach(copy),
                Event::Resume(copy) => self.resume(copy),
                Event::Return(copy) => self.come_back(copy),
                Event::Read(copy) => self.read(copy),
                Event::LookAway => self.look_away(),
                Event::Served(copy) => self.slot_is_done(copy),
                Event::Shared { instance } => self.share_is_done(instance),
                Event::Cancel(copy) => self.cancel(copy),
                Event::Untie(copy) => self.untie(copy),
                Event::Look(call) => self.look(call),
                Event::Deadline(request) => self.deadline(request),
            }
        }
        debug_assert_eq!((self.requests.len(), self.calls.len(), self.copies.len()), (0, 0, 0));
    }

    fn into_outcome(self) -> Outcome {
        Outcome {
            unhedged: self.unhedged,
            hedged: self.hedged,
            counts: self.counts,
            over_time: self.over_time,
            reached_bound: self.reached_bound,
        }
    }

    fn schedule_first_arrivals(&mut self) {
        match self.system.arrivals {
            Arrivals::Poisson(_) | Arrivals::Bursty(_) => self.schedule_next_arrival(),
            Arrivals::ClosedLoop { clients, .. } => {
                (0..clients.get()).for_each(|_| self.schedule_thoughtful_arrival());
            }
        }
    }

    fn schedule_next_arrival(&mut self) {
        if let Some(open_loop) = &mut self.open_loop {
            let at = open_loop.next(self.now, &mut self.streams.arrivals);
            self.schedule_arrival(at);
        }
    }

    /// A client of a closed loop asks (again), after it has thought.
    fn schedule_thoughtful_arrival(&mut self) {
        if let Arrivals::ClosedLoop { think, .. } = self.system.arrivals {
            let thought = nanoseconds(think.0 as f64 * exponential(&mut self.streams.arrivals));
            self.schedule_arrival(self.now.after(thought));
        }
    }

    fn schedule_arrival(&mut self, at: Moment) {
        if at.since(Moment::default()) < self.extent.duration {
            self.events.schedule(at, Event::Arrive);
        }
    }

    fn arrive(&mut self) {
        if self.counts.requests == self.extent.requests {
            self.reached_bound = true;
            return;
        }
        self.counts.requests += 1;
        let width = self.system.width.get();
        let request = self.requests.add(Request {
            arrived: self.now,
            waits_for: width,
            extra_copies: 0,
            failed: false,
            references: 0,
            last_call: None,
        });
        if let Some(deadline) = self.policy.deadline {
            self.requests[request].references += 1;
            self.events.schedule(self.now.after(deadline), Event::Deadline(request));
        }
        (0..width).for_each(|_| self.call(request));
        self.schedule_next_arrival();
    }

    /// Lets a place be used again once nothing refers to it.
    fn release_call(&mut self, call: Id<Call>) {
        let released = &mut self.calls[call];
        released.references -= 1;
        if released.references > 0 {
            return;
        }
        let request = released.request;
        let mut copy = released.last_copy;
        while let Some(id) = copy {
            copy = self.copies[id].previous;
            self.copies.remove(id);
        }
        self.release_request(request);
    }

    fn release_request(&mut self, request: Id<Request>) {
        let released = &mut self.requests[request];
        released.references -= 1;
        if released.references > 0 {
            return;
        }
        let mut call = released.last_call;
        while let Some(id) = call {
            call = self.calls[id].previous;
            self.calls.remove(id);
        }
        self.requests.remove(request);
    }
}
