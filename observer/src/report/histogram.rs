//! Latency histograms for people: two columns an octave.

use observer_common::Nanoseconds;

use super::model::Histogram;
use crate::ledger::Merged;

/// One half of an octave: the durations from 2ᵏ to below 1.5 · 2ᵏ ns, or from there to below 2ᵏ⁺¹ ns.
///
/// Its bounds are bounds of the HDR histogram's buckets from 1 µs up, so nothing is counted on the wrong side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HalfOctave(u32);

impl HalfOctave {
    fn of(duration: Nanoseconds) -> Self {
        let value = duration.0.max(2);
        let octave = value.ilog2();
        let upper_half = value >> (octave - 1) & 1 == 1;
        Self(2 * octave + u32::from(upper_half))
    }

    fn lowest(self) -> Nanoseconds {
        let start = 1 << (self.0 / 2);
        Nanoseconds(if self.0.is_multiple_of(2) { start } else { start + start / 2 })
    }
}

/// Which half octaves a histogram shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    first: HalfOctave,
    last: HalfOctave,
}

impl Range {
    /// The smallest that holds all durations, if there are any.
    pub(super) fn of(merged: &Merged) -> Option<Self> {
        let mut occurred = merged.counts().map(|(duration, _)| HalfOctave::of(duration));
        let first = occurred.next()?;
        Some(Self { first, last: occurred.last().unwrap_or(first) })
    }

    /// Counts durations into the half octaves of this range, which must hold them.
    pub(super) fn count(self, merged: &Merged) -> Histogram {
        let bounds = (self.first.0..=self.last.0 + 1).map(|number| HalfOctave(number).lowest().as_seconds());
        let mut counts = vec![0; (self.last.0 - self.first.0 + 1) as usize];
        for (duration, count) in merged.counts() {
            let place = HalfOctave::of(duration).0.clamp(self.first.0, self.last.0) - self.first.0;
            counts[place as usize] += count;
        }
        Histogram { bounds_s: bounds.collect(), counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Distribution;

    #[test]
    fn a_duration_lies_in_its_half_octave() {
        for duration in [2, 3, 4, 5, 6, 7, 8, 1_023, 1_024, 1_536, 3_600_000_000_000_u64] {
            let half = HalfOctave::of(Nanoseconds(duration));
            assert!(half.lowest().0 <= duration, "{duration}");
            assert!(duration < HalfOctave(half.0 + 1).lowest().0, "{duration}");
        }
    }

    #[test]
    fn every_duration_is_counted_between_its_bounds() {
        let mut distribution = Distribution::default();
        for duration in [1_024, 1_500, 1_536, 2_047, 2_048, 6_144] {
            distribution.record(Nanoseconds(duration));
        }
        let mut merged = Merged::default();
        merged.add(&distribution);
        let histogram = Range::of(&merged).unwrap().count(&merged);
        assert_eq!(histogram.counts, [2, 2, 1, 0, 0, 1]);
        let bounds =
            [1_024, 1_536, 2_048, 3_072, 4_096, 6_144, 8_192].map(|bound| Nanoseconds(bound).as_seconds());
        assert_eq!(histogram.bounds_s, bounds);
    }
}
