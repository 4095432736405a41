//! Which requests are slow.

use observer_common::Nanoseconds;

use super::{
    quantiles::{Bound, Survival},
    rounding::times,
    samples::Sample,
};

/// So many times the median is slow at least.
pub(super) const TIMES_MEDIAN: f64 = 3.0;

/// The largest share that can be slow where a part of a distribution is meant by that.
const MOST: f64 = 0.05;

/// So many requests should be slow.
const ENOUGH: f64 = 60.0;

/// What slow means for a service, and which of its requests are.
#[derive(Debug)]
pub(super) struct Slow {
    /// The median.
    pub(super) median: Nanoseconds,
    /// Whether that is only a bound: not even half of the requests have an answer.
    pub(super) has_no_median: bool,
    /// The quantile that is asked for.
    pub(super) target: Bound,
    /// Longer is slow.
    pub(super) above: Nanoseconds,
    /// For each sample, whether it is slow. One that was given up before it was does not count.
    pub(super) is: Vec<bool>,
    /// For each sample, whether it is late: beyond three times the median. All that are slow are late.
    pub(super) late: Vec<bool>,
    /// How many are.
    pub(super) count: usize,
}

impl Slow {
    /// Slow is beyond three times the median, and in the part of the distribution around the target: about twice as much
    /// as lies beyond the target, more if that are too few requests to tell anything, and at most a twentieth. So the
    /// threshold moves with the latency of the service and lies within the highest of several modes.
    pub(super) fn of(samples: &[Sample], survival: &Survival, target: f64) -> Self {
        let Bound { duration: median, at_least: has_no_median } = survival.quantile(0.5);
        let share = (2.0 * (1.0 - target)).max(ENOUGH / samples.len().max(1) as f64).min(MOST);
        let times_median = times(median, TIMES_MEDIAN);
        let (part, target) = (survival.quantile(1.0 - share), survival.quantile(target));
        // Where the part around the target has no answers, how long was waited there says nothing.
        let above = if part.at_least { times_median } else { times_median.max(part.duration) };
        // Where many have the same latency, none would be longer than the quantile.
        let above = if above >= target.duration && target.duration > times_median {
            Nanoseconds(target.duration.0 - 1)
        } else {
            above
        };
        let is: Vec<bool> = samples.iter().map(|sample| sample.latency > above).collect();
        let late = samples.iter().map(|sample| sample.latency > times_median).collect();
        let count = is.iter().filter(|is| **is).count();
        Self { median, has_no_median, target, above, is, late, count }
    }

    /// The places of those that are slow.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        self.is.iter().enumerate().filter(|(_, is)| **is).map(|(row, _)| row)
    }

    /// The target quantile ÷ the median.
    pub(super) fn tail_ratio(&self) -> f64 {
        self.target.duration.0 as f64 / self.median.0.max(1) as f64
    }
}
