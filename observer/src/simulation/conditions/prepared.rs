//! Conditions, as one run needs them.

use std::num::NonZeroU32;

use observer_common::Nanoseconds;
use rand::RngExt;

use super::{
    Conditions, Dice, Effect, Fault, Path, Purpose, Timetable,
    struck::{CopyKey, Instance, happens},
};
use crate::simulation::{moment::Moment, rounding::nanoseconds};

/// How far the shares of classes may be from adding up.
pub(super) const TOLERANCE: f64 = 1e-5;

/// Conditions, with what is drawn for one run.
#[derive(Debug)]
pub(in crate::simulation) struct Prepared<'a> {
    conditions: &'a Conditions,
    dice: Dice,
    /// How many calls a request makes.
    width: NonZeroU32,
    /// When nothing strikes any more.
    end: Moment,
    /// For each class, the share of it and all before it.
    cumulative: Vec<f64>,
    instances: Vec<Instance<'a>>,
    late_reading: Vec<Timetable>,
}

/// A copy of a call of the observed client.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulation) struct Attempt {
    /// Which call.
    pub(in crate::simulation) call: u64,
    /// Which copy of it; the first is 0.
    pub(in crate::simulation) number: u32,
}

/// Draws of what other clients send must not be those of the observed client's calls.
const OTHERS: u64 = 1 << 63;

impl Attempt {
    /// The only copy of a call of other clients.
    pub(in crate::simulation) const fn of_another_client(load: u16, call: u32) -> Self {
        Self { call: OTHERS | (load as u64) << 32 | call as u64, number: 0 }
    }
}

impl<'a> Prepared<'a> {
    pub(in crate::simulation) fn new(
        conditions: &'a Conditions,
        instances: NonZeroU32,
        width: NonZeroU32,
        end: Moment,
        seed: u64,
    ) -> Self {
        let dice = Dice::new(seed);
        let faults = &conditions.faults;
        let instance = |number| Instance::new(number, instances.get(), faults, dice, end);
        let is_late = |(_, fault): &(usize, &Fault)| fault.effect == Effect::LateReader;
        let late_reading =
            faults.iter().enumerate().filter(is_late).map(|(number, fault)| {
                Timetable::new(fault.when, dice.of(Purpose::Fault(number), 0, 0), end)
            });
        let cumulative = conditions.classes.iter().scan(0.0, |before, class| {
            *before += class.share.as_fraction();
            Some(if *before > 1.0 - TOLERANCE { 1.0 } else { *before })
        });
        Self {
            conditions,
            dice,
            width,
            end,
            cumulative: cumulative.collect(),
            instances: (0..instances.get()).map(instance).collect(),
            late_reading: late_reading.collect(),
        }
    }

    /// The class of a call's request.
    pub(in crate::simulation) fn class(&self, call: u64) -> Option<usize> {
        if self.cumulative.is_empty() {
            return None;
        }
        let drawn = self.dice.of(Purpose::Class, self.request(call), 0).random::<f64>();
        let place = self.cumulative.partition_point(|cumulative| *cumulative <= drawn);
        (place < self.cumulative.len()).then_some(place)
    }

    /// How long it takes an instance to serve a copy, at its own full speed, that would take so long at a normal one.
    pub(in crate::simulation) fn cost(
        &self,
        copy: Attempt,
        instance: u32,
        service: Nanoseconds,
    ) -> Nanoseconds {
        let class = self.class(copy.call).map_or(1.0, |class| self.conditions.classes[class].factor);
        let hidden = self.conditions.hidden_cost.map_or(1.0, |hidden| {
            let mut random = self.dice.of(Purpose::HiddenCost, self.request(copy.call), 0);
            if happens(hidden.share, &mut random) { hidden.factor } else { 1.0 }
        });
        let speed = self.conditions.speeds.get(instance as usize).copied().unwrap_or(1.0);
        nanoseconds(service.0 as f64 * class * hidden / speed)
    }

    /// The way of a copy to an instance and back.
    pub(in crate::simulation) fn path(&mut self, copy: Attempt, instance: u32, sent: Moment) -> Path {
        let (key, dice) = (self.key(copy), self.dice);
        self.instances[instance as usize].path(key, sent, dice)
    }

    /// How long an execution that begins now waits for something else.
    pub(in crate::simulation) fn dependency(
        &mut self,
        copy: Attempt,
        instance: u32,
        begun: Moment,
    ) -> Nanoseconds {
        let (key, dice) = (self.key(copy), self.dice);
        self.instances[instance as usize].dependency(key, begun, dice)
    }

    /// When work that an instance begins now and that takes so long at its full speed is done.
    pub(in crate::simulation) fn work_ends(
        &mut self,
        instance: u32,
        begun: Moment,
        work: Nanoseconds,
    ) -> Moment {
        self.instances[instance as usize].work_ends(begun, work)
    }

    /// When a copy that was sent and has reached its instance is reset instead of being over at a moment, if it is.
    pub(in crate::simulation) fn reset(
        &mut self,
        instance: u32,
        sent: Moment,
        reached: Moment,
        over: Moment,
    ) -> Option<Moment> {
        let at = self.instances[instance as usize].reset(reached, over)?;
        // Nobody resets what still hangs at the end: it is given up, after as long as can be waited within a run.
        Some(if at >= self.end { sent.after(self.end.since(Moment::default())) } else { at })
    }

    /// After which time an instance refuses a copy that arrives now, if it does. It would wait behind so many others.
    pub(in crate::simulation) fn refusal(
        &mut self,
        instance: u32,
        waiting: Option<u32>,
        now: Moment,
    ) -> Option<Nanoseconds> {
        let most = self.conditions.most_waiting;
        if most.is_some_and(|most| waiting.is_some_and(|waiting| waiting >= most)) {
            return Some(Nanoseconds(0));
        }
        self.instances[instance as usize].refusal(now)
    }

    /// When the client reads what arrives now.
    pub(in crate::simulation) fn read(&mut self, now: Moment) -> Moment {
        self.late_reading.iter_mut().filter_map(|late| late.now(now)).fold(now, |at, late| at.max(late.to))
    }

    const fn request(&self, call: u64) -> u64 {
        call / self.width.get() as u64
    }

    const fn key(&self, copy: Attempt) -> CopyKey {
        CopyKey { request: self.request(copy.call), call: copy.call, attempt: copy.number as u64 }
    }
}
