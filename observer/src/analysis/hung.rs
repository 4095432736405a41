//! Instances that do not answer any more.

use super::{samples::Samples, slow::Slow};

/// So many requests without an answer, each of which waited so many times as long as what is slow.
const REQUESTS: usize = 3;
const TIMES_SLOW: u64 = 3;

/// For each instance, whether it has answered nothing since requests to it wait for long.
pub(super) fn hung(samples: &Samples, slow: &Slow) -> Vec<bool> {
    samples
        .by_instance
        .iter()
        .map(|rows| {
            let rows = rows.iter().map(|row| &samples.primaries[*row as usize]);
            let waits = rows.clone().filter(|sample| {
                !sample.answered && sample.latency.0 > TIMES_SLOW.saturating_mul(slow.above.0)
            });
            let Some(since) = waits.clone().map(|sample| sample.start).min() else { return false };
            let answered = rows.filter(|sample| sample.answered && sample.start > since).count();
            let waiting = waits.count();
            waiting >= REQUESTS && answered * 20 <= waiting
        })
        .collect()
}
