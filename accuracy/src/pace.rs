//! How service times are distributed, apart from how long they are.

use anyhow::Result;
use observer::simulation::{Part, ServiceTime, Shape, Share};
use observer_common::Nanoseconds;

use crate::{draw::Draw, units};

/// How service times are distributed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    /// All alike.
    Constant,
    /// From half of the mean to half more.
    Uniform,
    /// With this standard deviation of the logarithm.
    LogNormal(f64),
    /// Without memory.
    Exponential,
    /// Some take so many times as long.
    Slow {
        /// How many.
        share: f64,
        /// How many times as long.
        factor: f64,
        /// The standard deviation of the logarithm, of either.
        sigma: f64,
    },
}

impl Pace {
    /// Without a tail of its own: p99 is below three medians.
    pub(crate) fn even(draw: &mut Draw) -> Self {
        match draw.whole(0..=4) {
            0 => Self::Constant,
            1 => Self::Uniform,
            _ => Self::LogNormal(draw.between(0.1, 0.42)),
        }
    }

    /// With little or some tail of its own, which something else has to exceed.
    pub(crate) fn any(draw: &mut Draw) -> Self {
        match draw.whole(0..=9) {
            0 => Self::Exponential,
            1 => Self::LogNormal(draw.between(0.45, 0.7)),
            _ => Self::even(draw),
        }
    }

    /// Service times with this mean, in seconds.
    pub(crate) fn of_mean(self, mean: f64) -> Result<ServiceTime> {
        let part = |share: Share, mean: f64, sigma: f64| {
            let median = units::seconds(mean / (sigma * sigma / 2.0).exp());
            Part { share, shift: Nanoseconds(0), shape: Shape::LogNormal { median, sigma } }
        };
        let time = match self {
            Self::Constant => ServiceTime::only(Shape::Constant(units::seconds(mean))),
            Self::Uniform => ServiceTime::only(Shape::Uniform {
                from: units::seconds(mean * 0.5),
                to: units::seconds(mean * 1.5),
            }),
            Self::LogNormal(sigma) => ServiceTime::mixture(vec![part(Share::ALL, mean, sigma)]),
            Self::Exponential => ServiceTime::only(Shape::Exponential { mean: units::seconds(mean) }),
            Self::Slow { share, factor, sigma } => {
                let fast = mean / (1.0 - share + share * factor);
                ServiceTime::mixture(vec![
                    part(units::share(1.0 - share), fast, sigma),
                    part(units::share(share), fast * factor, sigma),
                ])
            }
        };
        Ok(time?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_keeps_its_mean() {
        for pace in [
            Pace::Constant,
            Pace::Uniform,
            Pace::LogNormal(0.8),
            Pace::Exponential,
            Pace::Slow { share: 0.03, factor: 20.0, sigma: 0.2 },
        ] {
            let mean = pace.of_mean(0.02).unwrap().mean_seconds();
            assert!((mean - 0.02).abs() < 1e-6, "{pace:?}: {mean}");
        }
    }
}
