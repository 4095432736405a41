//! Requests of other clients.

use observer_common::Nanoseconds;
use rand_pcg::Pcg64;

use super::{
    Engine,
    entities::{Call, Caller, Request},
    events::Event,
    sending::Candidates,
};
use crate::simulation::{
    OtherLoad, System,
    arrivals::mean_gap_ns,
    balancing::Balancer,
    conditions::{Attempt, Dice, Purpose, Timetable},
    moment::Moment,
    random::exponential,
    rounding::nanoseconds,
};

/// Other clients, with a balancer that is theirs.
#[derive(Debug)]
pub(super) struct Others {
    load: u16,
    timetable: Timetable,
    gap_ns: f64,
    times: Pcg64,
    dice: Dice,
    asked: u32,
    balancer: Balancer,
}

/// Which call of which other clients it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OtherCall {
    /// The place of the clients in [`Conditions::others`](crate::simulation::Conditions::others).
    pub(super) load: u16,
    number: u32,
}

impl OtherCall {
    pub(super) const fn attempt(self) -> Attempt {
        Attempt::of_another_client(self.load, self.number)
    }
}

impl Others {
    /// All that there are, until the end.
    pub(super) fn all(others: &[OtherLoad], system: &System, end: Moment, seed: u64) -> Vec<Self> {
        let dice = Dice::new(seed);
        let of = |(load, other): (u16, &OtherLoad)| Self {
            load,
            timetable: Timetable::new(other.when, dice.of(Purpose::OtherTimes(load), 0, 0), end),
            gap_ns: mean_gap_ns(other.rate),
            times: dice.of(Purpose::OtherTimes(load), 1, 0),
            dice,
            asked: 0,
            balancer: Balancer::new(system.balancing, system.instances.get()),
        };
        (0..).zip(others).map(of).collect()
    }

    /// Learns how long an instance took to answer.
    pub(super) fn learn(&mut self, instance: u32, latency: Nanoseconds, now: Moment) {
        self.balancer.learn(instance, latency, now);
    }

    /// When the next request comes.
    fn next(&mut self, mut now: Moment) -> Option<Moment> {
        loop {
            let period = self.timetable.first_ending_after(now)?;
            now = now.max(period.from);
            let arrival = now.after(nanoseconds(self.gap_ns * exponential(&mut self.times)));
            if arrival < period.to {
                return Some(arrival);
            }
            // The exponential distribution has no memory: it is drawn anew from the next period on.
            now = period.to;
        }
    }
}

impl Engine<'_> {
    pub(super) fn schedule_other(&mut self, load: u16) {
        // Once no request will arrive, nobody can be hindered by those of others.
        if !self.reached_bound
            && let Some(at) = self.others[usize::from(load)].next(self.now)
        {
            self.events.schedule(at, Event::ArriveOther { load });
        }
    }

    /// Another client sends its only copy of a call.
    #[cold]
    pub(super) fn arrive_other(&mut self, load: u16) {
        let request = self.requests.add(Request {
            arrived: self.now,
            waits_for: 1,
            extra_copies: 0,
            failed: false,
            references: 1,
            last_call: None,
        });
        let others = &mut self.others[usize::from(load)];
        let number = others.asked;
        others.asked += 1;
        let call = self.calls.add(Call {
            request,
            caller: Caller::Other(OtherCall { load: others.load, number }),
            is_over: false,
            copies: 0,
            begun: None,
            references: 0,
            last_copy: None,
            previous: None,
        });
        self.requests[request].last_call = Some(call);
        let mut random = others.dice.of(Purpose::OtherRequest(load), number.into(), 0);
        let service = self.system.service.draw(&mut random);
        let candidates = Candidates { stations: &self.stations, used: None, copies: &self.copies };
        let instance = others.balancer.choose(&candidates, &mut random);
        let copy = self.add_copy(call, instance, service);
        self.send(copy);
        self.schedule_other(load);
    }
}
