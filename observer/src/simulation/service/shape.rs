//! Shapes of distributions.

use std::f64::consts::SQRT_2;

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

use super::Empirical;
use crate::simulation::{
    random::{exponential, standard_normal},
    rounding::nanoseconds,
};

/// How times are distributed.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Always the same.
    Constant(Nanoseconds),
    /// Evenly between two times.
    Uniform {
        /// The shortest.
        from: Nanoseconds,
        /// The longest.
        to: Nanoseconds,
    },
    /// Exponentially.
    Exponential {
        /// The mean.
        mean: Nanoseconds,
    },
    /// Their logarithms normally.
    LogNormal {
        /// Half of them are shorter.
        median: Nanoseconds,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// As they were measured.
    Empirical(Empirical),
}

impl Shape {
    /// The mean, in nanoseconds.
    pub(super) fn mean_ns(&self) -> f64 {
        match self {
            Self::Constant(time) => time.0 as f64,
            Self::Uniform { from, to } => f64::midpoint(from.0 as f64, to.0 as f64),
            Self::Exponential { mean } => mean.0 as f64,
            Self::LogNormal { median, sigma } => median.0 as f64 * libm::exp(sigma * sigma / 2.0),
            Self::Empirical(empirical) => empirical.mean_ns(),
        }
    }

    /// The share that is longer than this.
    pub(super) fn survival(&self, duration: Nanoseconds) -> f64 {
        let duration_ns = duration.0 as f64;
        match self {
            Self::Constant(time) => f64::from(u8::from(duration < *time)),
            Self::Uniform { from, .. } if duration < *from => 1.0,
            Self::Uniform { to, .. } if duration >= *to => 0.0,
            Self::Uniform { from, to } => (to.0 - duration.0) as f64 / (to.0 - from.0) as f64,
            Self::Exponential { mean } => libm::exp(-duration_ns / mean.0 as f64),
            Self::LogNormal { .. } if duration.0 == 0 => 1.0,
            Self::LogNormal { median, sigma } => {
                libm::erfc(libm::log(duration_ns / median.0 as f64) / sigma / SQRT_2) / 2.0
            }
            Self::Empirical(empirical) => empirical.survival(duration),
        }
    }

    /// Draws one.
    pub(super) fn draw(&self, random: &mut Pcg64) -> Nanoseconds {
        match self {
            Self::Constant(time) => *time,
            Self::Uniform { from, to } => Nanoseconds(random.random_range(from.0..=to.0)),
            Self::Exponential { mean } => nanoseconds(mean.0 as f64 * exponential(random)),
            Self::LogNormal { median, sigma } => {
                nanoseconds(median.0 as f64 * libm::exp(sigma * standard_normal(random)))
            }
            Self::Empirical(empirical) => empirical.draw(random),
        }
    }
}
