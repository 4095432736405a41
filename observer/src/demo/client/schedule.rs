//! When every request is due, and what it asks for: fixed before the first one leaves.

use std::time::Duration;

use jiff::fmt::serde::unsigned_duration::friendly::compact::required as text;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};

use super::super::{
    episodes::{Episode, Episodes},
    wire::Class,
};
use crate::quantity::{Rate, Share};

/// What decides a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct ScheduleOptions {
    /// How many requests arrive between bursts.
    pub(in super::super) rate: Rate,
    /// How many arrive in a burst.
    pub(in super::super) burst_rate: Rate,
    /// When there are bursts.
    pub(in super::super) bursts: Episodes,
    /// How long requests arrive.
    #[serde(with = "text")]
    pub(in super::super) duration: Duration,
    /// How many requests are expensive.
    pub(in super::super) expensive: Share,
    /// Decides the arrivals, and which are expensive.
    pub(in super::super) seed: u64,
}

/// A request that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    /// When, counted from the start.
    pub(super) due: Duration,
    /// What it asks for.
    pub(super) class: Class,
}

/// Poisson arrivals, at one rate between bursts and at another in them.
struct Schedule<Bursts> {
    options: ScheduleOptions,
    random: SmallRng,
    time: Duration,
    bursts: Bursts,
    /// The burst that comes next, or that is.
    burst: Option<Episode>,
}

impl ScheduleOptions {
    /// All requests, in the order in which they are due.
    pub(super) fn requests(&self) -> impl Iterator<Item = Planned> + use<> {
        let mut bursts = self.bursts.iter();
        let burst = bursts.next();
        let random = SmallRng::seed_from_u64(self.seed);
        Schedule { options: *self, random, time: Duration::ZERO, bursts, burst }
    }
}

impl<Bursts: Iterator<Item = Episode>> Iterator for Schedule<Bursts> {
    type Item = Planned;

    fn next(&mut self) -> Option<Planned> {
        // An exponential gap is without memory: where the rate changes within one, its rest is drawn anew.
        loop {
            let (rate, until) = match self.burst {
                Some(burst) if self.time < burst.begin => (self.options.rate, burst.begin),
                Some(burst) => (self.options.burst_rate, burst.end()),
                None => (self.options.rate, Duration::MAX),
            };
            let gap: f64 = Exp1.sample(&mut self.random);
            let next = self.time + Duration::from_secs_f64(gap / rate.as_per_second());
            if next < until {
                self.time = next;
                break;
            }
            self.time = until;
            if self.burst.is_some_and(|burst| burst.end() == until) {
                self.burst = self.bursts.next();
            }
        }
        let is_expensive = self.random.random_bool(self.options.expensive.as_fraction());
        let class = if is_expensive { Class::Expensive } else { Class::Ordinary };
        (self.time < self.options.duration).then_some(Planned { due: self.time, class })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> ScheduleOptions {
        let length = Duration::from_secs(1);
        ScheduleOptions {
            rate: Rate::per_second(100.0).unwrap(),
            burst_rate: Rate::per_second(500.0).unwrap(),
            bursts: Episodes { seed: 1, share: Share::NONE, shortest: length, longest: length },
            duration: Duration::from_secs(100),
            expensive: Share::percent(5),
            seed: 1,
        }
    }

    #[test]
    fn a_seed_decides_everything() {
        let all = |seed| ScheduleOptions { seed, ..options() }.requests().collect::<Vec<_>>();
        assert_eq!(all(7), all(7));
        assert_ne!(all(7), all(8));
    }

    /// Gaps of a Poisson process are exponential: mean and standard deviation are the same.
    #[test]
    fn arrivals_are_a_poisson_process() {
        let all: Vec<_> = options().requests().collect();
        assert!(all.iter().all(|planned| planned.due < Duration::from_secs(100)));
        let gaps: Vec<_> =
            all.windows(2).map(|pair| pair[1].due.as_secs_f64() - pair[0].due.as_secs_f64()).collect();
        let count = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
        // About 10,000 gaps: 1 % is one standard error of the mean.
        assert!((mean - 0.01).abs() < 0.000_4, "{mean}");
        assert!((variance.sqrt() - 0.01).abs() < 0.000_6, "{variance}");
    }

    #[test]
    fn the_expensive_are_their_share() {
        let all: Vec<_> = options().requests().collect();
        let expensive = all.iter().filter(|planned| planned.class == Class::Expensive).count();
        // 500 expected, with a standard deviation of 22.
        assert!(expensive.abs_diff(all.len() / 20) < 90, "{expensive} of {}", all.len());
    }

    #[test]
    fn bursts_have_a_rate_of_their_own() {
        let bursts = Episodes { share: Share::percent(20), ..options().bursts };
        let options = ScheduleOptions { bursts, ..options() };
        let (mut within, mut time) = (0, 0.0);
        for burst in bursts.iter().take_while(|burst| burst.end() < options.duration) {
            let is_within = |due| burst.begin <= due && due < burst.end();
            within += options.requests().filter(|planned| is_within(planned.due)).count();
            time += burst.length.as_secs_f64();
        }
        let rate = within as f64 / time;
        // Some 10,000 requests: four standard errors are 4 %.
        assert!((rate / 500.0 - 1.0).abs() < 0.05, "{rate}");
    }
}
