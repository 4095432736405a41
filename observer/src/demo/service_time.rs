//! How long a replica serves a request.

use std::time::Duration;

use jiff::fmt::serde::unsigned_duration::friendly::compact::required as text;
use rand::{RngExt, rngs::SmallRng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::quantity::Share;

/// A mixture of laws. What is served is drawn anew for every execution, so that a second copy may be luckier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServiceTime(Vec<Component>);

/// One law of a mixture, and how often it holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Component {
    share: Share,
    law: Law,
}

/// How long one kind of execution takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Law {
    Constant(#[serde(with = "text")] Duration),
    LogNormal {
        #[serde(with = "text")]
        median: Duration,
        spread: f64,
    },
}

impl ServiceTime {
    /// Always `duration`.
    pub fn constant(duration: Duration) -> Self {
        Self(vec![Component { share: Share::ALL, law: Law::Constant(duration) }])
    }

    /// Log-normal: half take less than `median`, and `spread` is the standard deviation of the logarithm.
    pub fn log_normal(median: Duration, spread: f64) -> Self {
        Self(vec![Component { share: Share::ALL, law: Law::LogNormal { median, spread } }])
    }

    /// `usual`, but `rare` for a share of the executions.
    pub fn two_kinds(usual: Duration, rare: Duration, share: Share) -> Self {
        let rare = Component { share, law: Law::Constant(rare) };
        Self(vec![rare, Component { share: Share::ALL, law: Law::Constant(usual) }])
    }

    /// The mean of the law: `median × exp(spread² ÷ 2)` where it is log-normal.
    pub fn mean(&self) -> Duration {
        let mut left = 1.0;
        let mut mean = 0.0;
        for component in &self.0 {
            let share = component.share.as_fraction() * left;
            mean += share * component.law.mean();
            left -= share;
        }
        Duration::from_secs_f64(mean)
    }

    /// The next execution's time.
    pub(super) fn draw(&self, random: &mut SmallRng) -> Duration {
        for component in &self.0 {
            if random.random_bool(component.share.as_fraction()) {
                return component.law.draw(random);
            }
        }
        Duration::ZERO
    }
}

impl Law {
    fn mean(self) -> f64 {
        match self {
            Self::Constant(duration) => duration.as_secs_f64(),
            Self::LogNormal { median, spread } => median.as_secs_f64() * (spread * spread / 2.0).exp(),
        }
    }

    fn draw(self, random: &mut SmallRng) -> Duration {
        match self {
            Self::Constant(duration) => duration,
            Self::LogNormal { median, spread } => {
                let normal: f64 = StandardNormal.sample(random);
                median.mul_f64((spread * normal).exp())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn drawn_mean(service: &ServiceTime) -> f64 {
        let mut random = SmallRng::seed_from_u64(1);
        (0..20_000).map(|_| service.draw(&mut random).as_secs_f64()).sum::<f64>() / 20_000.0
    }

    /// 98 % take 10 ms and 2 % take 300 ms: 15.8 ms in the mean.
    #[test]
    fn two_kinds_have_the_mean_of_both() {
        let service =
            ServiceTime::two_kinds(Duration::from_millis(10), Duration::from_millis(300), Share::percent(2));
        assert_eq!(service.mean(), Duration::from_micros(15_800));
        // The standard error is 41 ms ÷ √20,000 = 0.3 ms.
        assert!((drawn_mean(&service) - 0.015_8).abs() < 0.001_2);
    }

    #[test]
    fn a_log_normal_time_has_the_mean_that_it_says() {
        let service = ServiceTime::log_normal(Duration::from_millis(4), 0.5);
        assert!((service.mean().as_secs_f64() - 0.004_533).abs() < 1e-6);
        assert!((drawn_mean(&service) - 0.004_533).abs() < 0.000_1);
    }

    #[test]
    fn a_constant_time_is_constant() {
        let service = ServiceTime::constant(Duration::from_millis(5));
        assert_eq!(service.mean(), Duration::from_millis(5));
        assert!((drawn_mean(&service) - 0.005).abs() < 1e-9);
    }
}
