//! Times as they were measured.

use observer_common::Nanoseconds;
use rand::RngExt;
use rand_pcg::Pcg64;

/// Measured times: each as often as it was measured, those of a histogram evenly within their bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    buckets: Vec<Bucket>,
}

/// Times that were counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    lowest: Nanoseconds,
    highest: Nanoseconds,
    /// How many are in it and all before it.
    cumulative: u64,
}

/// Measurements that are no distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmpiricalError {
    /// There are none.
    #[error("it holds no answered request; name another recording, or give the distribution with --service")]
    Empty,
    /// A histogram's bounds do not fit its counts.
    #[error(
        "its histogram has bounds that do not ascend, or not one more than counts; take an unchanged report"
    )]
    Bounds,
}

impl Empirical {
    /// From single measurements.
    pub fn from_times(mut times: Vec<Nanoseconds>) -> Result<Self, EmpiricalError> {
        times.sort_unstable();
        let mut buckets: Vec<Bucket> = Vec::new();
        for (count, time) in (1..).zip(times) {
            match buckets.last_mut() {
                Some(last) if last.lowest == time => last.cumulative = count,
                _ => buckets.push(Bucket { lowest: time, highest: time, cumulative: count }),
            }
        }
        Self::from_buckets(buckets)
    }

    /// From a histogram: `counts[i]` times lie between `bounds[i]` and `bounds[i + 1]`.
    pub fn from_histogram(bounds: &[Nanoseconds], counts: &[u64]) -> Result<Self, EmpiricalError> {
        let ascending = bounds.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || (bounds.len() != counts.len() + 1 && !counts.is_empty()) {
            return Err(EmpiricalError::Bounds);
        }
        let mut cumulative = 0;
        let mut buckets = Vec::new();
        for (pair, count) in bounds.windows(2).zip(counts).filter(|(_, count)| **count > 0) {
            cumulative += count;
            buckets.push(Bucket { lowest: pair[0], highest: pair[1], cumulative });
        }
        Self::from_buckets(buckets)
    }

    fn from_buckets(buckets: Vec<Bucket>) -> Result<Self, EmpiricalError> {
        if buckets.is_empty() { Err(EmpiricalError::Empty) } else { Ok(Self { buckets }) }
    }

    /// How many measurements there were.
    pub fn count(&self) -> u64 {
        self.buckets.last().map_or(0, |last| last.cumulative)
    }

    /// Each bucket with its count.
    fn counted(&self) -> impl Iterator<Item = (Bucket, u64)> {
        self.buckets.iter().scan(0, |before, bucket| {
            let count = bucket.cumulative - *before;
            *before = bucket.cumulative;
            Some((*bucket, count))
        })
    }

    pub(super) fn mean_ns(&self) -> f64 {
        let sum: f64 = self
            .counted()
            .map(|(bucket, count)| {
                f64::midpoint(bucket.lowest.0 as f64, bucket.highest.0 as f64) * count as f64
            })
            .sum();
        sum / self.count() as f64
    }

    pub(super) fn survival(&self, duration: Nanoseconds) -> f64 {
        let place = self.buckets.partition_point(|bucket| bucket.highest <= duration);
        let Some(Bucket { lowest, highest, cumulative }) = self.buckets.get(place).copied() else {
            return 0.0;
        };
        let before = place.checked_sub(1).map_or(0, |last| self.buckets[last].cumulative);
        let part = if duration < lowest {
            1.0
        } else {
            (highest.0 - duration.0) as f64 / (highest.0 - lowest.0) as f64
        };
        ((self.count() - cumulative) as f64 + part * (cumulative - before) as f64) / self.count() as f64
    }

    pub(super) fn draw(&self, random: &mut Pcg64) -> Nanoseconds {
        let drawn = random.random_range(0..self.count());
        let place = self.buckets.partition_point(|bucket| bucket.cumulative <= drawn);
        let Bucket { lowest, highest, .. } = self.buckets[place];
        if lowest == highest { lowest } else { Nanoseconds(random.random_range(lowest.0..=highest.0)) }
    }
}
