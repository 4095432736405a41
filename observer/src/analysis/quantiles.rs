//! Quantiles of durations some of which are only known to be longer than something.

use observer_common::Nanoseconds;

use super::samples::Sample;

/// The survival function by Kaplan and Meier (1958): S(t) = Π (1 − dⱼ ÷ nⱼ) over the durations tⱼ ≤ t at which dⱼ of
/// the nⱼ that were still waiting were answered.
#[derive(Debug)]
pub(super) struct Survival {
    /// Durations of answers, ascending, with the share that takes longer.
    steps: Vec<(Nanoseconds, f64)>,
    /// The longest that was waited, answered or not.
    longest: Nanoseconds,
}

/// A quantile, or how much it is at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// The duration.
    pub(super) duration: Nanoseconds,
    /// Whether it lies beyond all answers, so that it is only a lower bound.
    pub(super) at_least: bool,
}

impl Survival {
    /// That of all samples.
    pub(super) fn of(samples: &[Sample]) -> Self {
        // The lowest bit tells answers from others of the same length, which come after them.
        let mut keys: Vec<u64> =
            samples.iter().map(|sample| (sample.latency.0 << 1) | u64::from(!sample.answered)).collect();
        keys.sort_unstable();
        let mut survival = 1.0;
        let mut steps: Vec<(Nanoseconds, f64)> = Vec::with_capacity(keys.len());
        let mut censored = false;
        for (before, key) in keys.iter().enumerate() {
            if key & 1 == 1 {
                censored = true;
                continue;
            }
            let waiting = (keys.len() - before) as f64;
            // Without any censored one the product is a count, which rounds better.
            survival =
                if censored { survival * (1.0 - 1.0 / waiting) } else { (waiting - 1.0) / keys.len() as f64 };
            let duration = Nanoseconds(key >> 1);
            match steps.last_mut() {
                Some(last) if last.0 == duration => last.1 = survival,
                _ => steps.push((duration, survival)),
            }
        }
        Self { steps, longest: Nanoseconds(keys.last().map_or(0, |key| key >> 1)) }
    }

    /// The least duration that the share `quantile` does not exceed.
    pub(super) fn quantile(&self, quantile: f64) -> Bound {
        let longer = 1.0 - quantile + 1e-12;
        let place = self.steps.partition_point(|step| step.1 > longer);
        match self.steps.get(place) {
            Some(step) => Bound { duration: step.0, at_least: false },
            None => Bound { duration: self.longest, at_least: true },
        }
    }

    /// The share that takes longer than this.
    pub(super) fn beyond(&self, duration: Nanoseconds) -> f64 {
        let place = self.steps.partition_point(|step| step.0 <= duration);
        place.checked_sub(1).map_or(1.0, |place| self.steps[place].1)
    }
}
