//! What is simulated, apart from what the client does about slow requests.

use std::num::NonZeroU32;

use super::{Arrivals, Balancing, Rate, ServiceTime};

/// Clients, and the instances that serve them.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// How many calls a request makes at once. It is answered when all of them are.
    pub width: NonZeroU32,
    /// Which instance a call goes to.
    pub balancing: Balancing,
    /// How many instances there are, each of which may serve any call.
    pub instances: NonZeroU32,
    /// How many calls an instance serves at the full rate at a time.
    pub slots: NonZeroU32,
    /// What an instance does with more calls than slots.
    pub discipline: Discipline,
    /// How long a call takes to serve.
    pub service: ServiceTime,
}

/// What an instance does with more calls than it has slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Those that came later wait.
    FirstInFirstOut,
    /// All are served at once, each at an equal part of the rate.
    ProcessorSharing,
}

impl System {
    /// The rate of calls that the instances can serve at most.
    pub fn capacity(&self) -> Option<Rate> {
        let slots = f64::from(self.instances.get()) * f64::from(self.slots.get());
        Rate::per_second(slots / self.service.mean_seconds())
    }

    /// Offered load ÷ capacity, with one copy of every call; a closed loop offers what is answered.
    pub fn utilisation(&self) -> Option<f64> {
        let calls = self.arrivals.rate()?.as_per_second() * f64::from(self.width.get());
        Some(calls / self.capacity()?.as_per_second())
    }

    /// The same system at another utilisation; nothing for a closed loop.
    pub fn at_utilisation(&self, utilisation: f64) -> Option<Self> {
        let per_second = utilisation * self.capacity()?.as_per_second() / f64::from(self.width.get());
        self.arrivals.rate()?;
        Some(Self { arrivals: self.arrivals.at_rate(Rate::per_second(per_second)?), ..self.clone() })
    }
}
