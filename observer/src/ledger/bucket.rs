//! The buckets of an HDR histogram with three significant digits, numbered.
//!
//! Values below 2,048 ns have a bucket each; above, every octave has 1,024. The numbers fit into 16 bits, which makes
//! them the cheapest way to keep a value that will only ever be asked for its quantile.

use observer_common::Nanoseconds;

/// Values above an hour count as an hour, and are counted beside.
pub const HIGHEST: Nanoseconds = Nanoseconds(3_600_000_000_000);

/// How many buckets reach up to [`HIGHEST`].
pub(super) const BUCKETS: usize = 33_792;

const HALF: u64 = 1_024;

/// The number of one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bucket(u16);

impl Bucket {
    /// The bucket of a duration, at most that of [`HIGHEST`].
    #[expect(clippy::cast_possible_truncation, reason = "an hour is in bucket 33,420")]
    pub(super) fn of(duration: Nanoseconds) -> Self {
        let value = duration.0.min(HIGHEST.0);
        if value < 2 * HALF {
            return Self(value as u16);
        }
        let shift = u64::from(value.ilog2()) - 10;
        Self((shift * HALF + (value >> shift)) as u16)
    }

    /// The bucket at a position, as [`Self::position`] gives it.
    #[expect(clippy::cast_possible_truncation, reason = "positions come from buckets")]
    pub(super) fn at(position: usize) -> Self {
        Self(position as u16)
    }

    /// Its position among all buckets.
    pub(super) fn position(self) -> usize {
        usize::from(self.0)
    }

    /// The lowest duration that falls into it.
    pub(super) fn lowest(self) -> Nanoseconds {
        let number = u64::from(self.0);
        if number < 2 * HALF {
            return Nanoseconds(number);
        }
        let shift = number / HALF - 1;
        Nanoseconds((number - shift * HALF) << shift)
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_those_of_the_hdr_histogram() {
        let reference = Histogram::<u64>::new_with_bounds(1, HIGHEST.0, 3).unwrap();
        assert!(Bucket::of(HIGHEST).position() < BUCKETS);
        assert_eq!(reference.distinct_values(), BUCKETS);
        proptest!(|(value in prop_oneof![0..5_000_u64, 0..=HIGHEST.0])| {
            prop_assert_eq!(Bucket::of(Nanoseconds(value)).lowest().0, reference.lowest_equivalent(value));
        });
    }

    #[test]
    fn what_is_longer_than_an_hour_is_in_the_last_bucket() {
        assert_eq!(Bucket::of(Nanoseconds(u64::MAX)), Bucket::of(HIGHEST));
    }
}
