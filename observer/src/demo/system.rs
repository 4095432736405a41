//! What is run, in the numbers by which a simulation describes it too.

use std::{num::NonZeroUsize, time::Duration};

use clap::ValueEnum;
use jiff::fmt::serde::unsigned_duration::friendly::compact::required as text;
use serde::{Deserialize, Serialize};

use super::service_time::ServiceTime;
use crate::quantity::Rate;

/// What replicas and client speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// HTTP/1.1, a connection for each request that is under way
    Http1,
    /// gRPC, one connection to each replica
    Grpc,
}

/// Which replica a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Balancing {
    /// One replica after another
    Turns,
    /// The one with fewer requests in flight of two that are chosen at random
    TwoChoices,
}

/// Replicas with slots, and what arrives at them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// How many replicas there are.
    pub replicas: NonZeroUsize,
    /// How many requests each serves at once; further ones wait in the order of their arrival.
    pub slots: NonZeroUsize,
    /// How long a request takes in its slot, for one execution.
    pub service: ServiceTime,
    /// How many requests arrive: a Poisson process, fixed before it begins.
    #[serde(rename = "rate_per_s")]
    pub rate: Rate,
    /// How long requests arrive.
    #[serde(with = "text")]
    pub duration: Duration,
    /// Which replica a request goes to.
    pub balancing: Balancing,
    /// What replicas and client speak.
    pub wire: Wire,
    /// Decides arrivals, service times, faults and chances.
    pub seed: u64,
}

impl System {
    /// How many requests the slots of all replicas can serve; nothing where they take no time.
    pub fn capacity(&self) -> Option<Rate> {
        let slots = self.replicas.get() * self.slots.get();
        Rate::per_second(slots as f64 / self.service.mean().as_secs_f64())
    }

    /// The share of all slots that is busy on average while no fault is on; from 1 on, queues grow without end.
    pub fn utilization(&self) -> f64 {
        self.capacity().map_or(0.0, |capacity| self.rate.as_per_second() / capacity.as_per_second())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Share;

    /// Ten instances with eight slots, 98 % of 10 ms and 2 % of 300 ms: about 5,060 requests a second.
    #[test]
    fn capacity_is_slots_by_mean_service_time() {
        let system = System {
            replicas: NonZeroUsize::new(10).unwrap(),
            slots: NonZeroUsize::new(8).unwrap(),
            service: ServiceTime::two_kinds(
                Duration::from_millis(10),
                Duration::from_millis(300),
                Share::percent(2),
            ),
            rate: Rate::per_second(2_500.0).unwrap(),
            duration: Duration::from_secs(30),
            balancing: Balancing::TwoChoices,
            wire: Wire::Http1,
            seed: 1,
        };
        assert!((system.capacity().unwrap().as_per_second() - 5_063.3).abs() < 0.1);
        assert!((system.utilization() - 0.494).abs() < 0.001);
    }
}
