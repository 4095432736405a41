//! One figure, over several seeds.

use schemars::JsonSchema;
use serde::Serialize;

/// A figure over several seeds: its median, and between what nine in ten of them lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The median over the seeds.
    pub median: f64,
    /// The 5th percentile over the seeds; with fewer than twenty, the least.
    pub low: f64,
    /// The 95th percentile over the seeds; with fewer than twenty, the most.
    pub high: f64,
}

impl Estimate {
    /// Over these values, one a seed; nothing without any.
    pub fn over(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<_> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let tail = sorted.len() / 20;
        Some(Self {
            median: f64::midpoint(sorted[last / 2], sorted[last.div_ceil(2)]),
            low: sorted[tail],
            high: sorted[last - tail],
        })
    }

    /// Whether all seeds agree, but for rounding in histograms.
    pub fn is_sure(&self) -> bool {
        (self.high - self.low).abs() <= 2e-3 * self.median.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_in_ten_seeds_lie_between() {
        let estimate = Estimate::over((1..=40).map(f64::from)).unwrap();
        assert_eq!(estimate, Estimate { median: 20.5, low: 3.0, high: 38.0 });
        assert!(!estimate.is_sure());
    }

    #[test]
    fn few_seeds_lie_between_the_least_and_the_most() {
        let estimate = Estimate::over([3.0, 1.0, 2.0]).unwrap();
        assert_eq!(estimate, Estimate { median: 2.0, low: 1.0, high: 3.0 });
        assert_eq!(Estimate::over([]), None);
        assert!(Estimate::over([5.0]).unwrap().is_sure());
    }
}
