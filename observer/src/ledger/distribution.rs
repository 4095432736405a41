//! How durations are distributed, in little memory.

use hdrhistogram::Histogram;
use observer_common::Nanoseconds;

use super::{
    bucket::{Bucket, HIGHEST},
    pages::Pages,
};

/// Up to here a value costs two bytes in a list; beyond, counters are cheaper.
const FEW: usize = 4_096;

/// A distribution of durations: an HDR histogram with three significant digits from 1 ns to 1 h, in compact form.
///
/// Its quantiles are those of a plain histogram that was given the same values, in any order.
#[derive(Clone, Debug)]
pub struct Distribution {
    values: Values,
    saturated: u64,
    max: Nanoseconds,
}

#[derive(Clone, Debug)]
enum Values {
    Few(Vec<Bucket>),
    Many(Pages),
}

impl Default for Distribution {
    fn default() -> Self {
        Self { values: Values::Few(Vec::new()), saturated: 0, max: Nanoseconds(0) }
    }
}

impl Distribution {
    /// Takes in one duration. One above an hour counts as an hour, and as saturated.
    pub fn record(&mut self, duration: Nanoseconds) {
        let bucket = Bucket::of(duration);
        match &mut self.values {
            Values::Few(values) if values.len() < FEW => values.push(bucket),
            Values::Few(_) => self.count_from_now_on(bucket),
            Values::Many(pages) => pages.increment(bucket),
        }
        self.saturated += u64::from(duration > HIGHEST);
        self.max = self.max.max(duration);
    }

    #[cold]
    fn count_from_now_on(&mut self, bucket: Bucket) {
        let mut pages = Pages::new();
        if let Values::Few(values) = &self.values {
            for value in values {
                pages.increment(*value);
            }
        }
        pages.increment(bucket);
        self.values = Values::Many(pages);
    }

    /// Forgets everything and keeps the memory.
    pub(super) fn clear(&mut self) {
        match &mut self.values {
            Values::Few(values) => values.clear(),
            Values::Many(pages) => pages.clear(),
        }
        self.saturated = 0;
        self.max = Nanoseconds(0);
    }

    fn add_to(&self, histogram: &mut Histogram<u64>) {
        match &self.values {
            Values::Few(values) => {
                for bucket in values {
                    histogram.saturating_record(bucket.lowest().0);
                }
            }
            Values::Many(pages) => {
                for (bucket, count) in pages.counts() {
                    histogram.saturating_record_n(bucket.lowest().0, count);
                }
            }
        }
    }
}

/// Several distributions taken together, ready to be asked for quantiles.
#[derive(Debug)]
pub struct Merged {
    histogram: Histogram<u64>,
    max: Nanoseconds,
    saturated: u64,
}

impl Default for Merged {
    #[expect(clippy::expect_used, reason = "the bounds are constants that the crate accepts")]
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, HIGHEST.0, 3).expect("bounds are valid");
        Self { histogram, max: Nanoseconds(0), saturated: 0 }
    }
}

impl Merged {
    /// Takes in another distribution.
    pub fn add(&mut self, distribution: &Distribution) {
        distribution.add_to(&mut self.histogram);
        self.max = self.max.max(distribution.max);
        self.saturated += distribution.saturated;
    }

    /// Forgets everything and keeps the memory, which is a quarter of a megabyte.
    pub fn clear(&mut self) {
        self.histogram.reset();
        self.max = Nanoseconds(0);
        self.saturated = 0;
    }

    /// How many durations it holds.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The duration that the share `quantile` of all durations does not exceed, to three digits.
    pub fn quantile(&self, quantile: f64) -> Nanoseconds {
        Nanoseconds(self.histogram.value_at_quantile(quantile).min(self.max.0))
    }

    /// The longest duration that the histogram does not tell from this one.
    pub(super) fn longest_like(&self, duration: Nanoseconds) -> Nanoseconds {
        Nanoseconds(self.histogram.highest_equivalent(duration.0).min(self.max.0))
    }

    /// The longest duration, exactly.
    pub fn max(&self) -> Nanoseconds {
        self.max
    }

    /// How many durations were longer than an hour.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// The durations that occurred, ascending, to three digits, each with its count.
    pub fn counts(&self) -> impl Iterator<Item = (Nanoseconds, u64)> {
        self.histogram.iter_recorded().map(|step| {
            (Nanoseconds(self.histogram.lowest_equivalent(step.value_iterated_to())), step.count_at_value())
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUANTILES: [f64; 8] = [0.0, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0];

    fn agrees_with_a_plain_histogram(durations: &[u64]) {
        let mut plain = Histogram::<u64>::new_with_bounds(1, HIGHEST.0, 3).unwrap();
        let mut distribution = Distribution::default();
        for duration in durations {
            plain.saturating_record((*duration).min(HIGHEST.0));
            distribution.record(Nanoseconds(*duration));
        }
        let mut merged = Merged::default();
        merged.add(&distribution);
        let max = durations.iter().copied().max().unwrap_or(0);
        assert_eq!(merged.max().0, max);
        assert_eq!(merged.count(), plain.len());
        for quantile in QUANTILES {
            assert_eq!(merged.quantile(quantile).0, plain.value_at_quantile(quantile).min(max), "{quantile}");
        }
    }

    fn duration() -> impl Strategy<Value = u64> {
        prop_oneof![1_000..1_000_000_u64, 0..100_000_000_u64, 0..=2 * HIGHEST.0]
    }

    proptest! {
        #[test]
        fn few_values_give_the_quantiles_of_a_plain_histogram(
            durations in proptest::collection::vec(duration(), 0..200),
        ) {
            agrees_with_a_plain_histogram(&durations);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn many_values_give_the_quantiles_of_a_plain_histogram(
            durations in proptest::collection::vec(duration(), FEW - 2..2 * FEW),
        ) {
            agrees_with_a_plain_histogram(&durations);
        }
    }

    #[test]
    fn what_is_longer_than_an_hour_saturates_and_is_counted() {
        let mut distribution = Distribution::default();
        distribution.record(Nanoseconds(HIGHEST.0));
        distribution.record(Nanoseconds(HIGHEST.0 + 1));
        let mut merged = Merged::default();
        merged.add(&distribution);
        assert_eq!(merged.count(), 2);
        assert_eq!(merged.saturated(), 1);
    }

    #[test]
    fn merging_is_as_if_all_values_had_come_to_one() {
        let (mut left, mut right, mut whole) =
            (Distribution::default(), Distribution::default(), Distribution::default());
        for value in 0..10_000_u64 {
            let duration = Nanoseconds(value * value);
            whole.record(duration);
            if value % 3 == 0 { left.record(duration) } else { right.record(duration) }
        }
        let (mut parts, mut one) = (Merged::default(), Merged::default());
        parts.add(&left);
        parts.add(&right);
        one.add(&whole);
        for quantile in QUANTILES {
            assert_eq!(parts.quantile(quantile), one.quantile(quantile));
        }
        assert!(parts.counts().eq(one.counts()));
        parts.clear();
        assert_eq!(parts.count(), 0);
    }
}
