//! Answers that were there and lay unread.

use super::{samples::Samples, slow::Slow};

/// Slow requests whose answer lay unread for this part of their excess are the caller's.
const UNREAD: f64 = 0.5;

/// Slow requests that would not be slow if their answers had been read at once, or not by half.
pub(super) fn caller(samples: &Samples, slow: &Slow) -> impl Iterator<Item = usize> {
    slow.rows().filter(|row| {
        let sample = &samples.primaries[*row];
        let excess = sample.latency.0.saturating_sub(slow.median.0);
        sample.read_lag.0 as f64 >= UNREAD * excess as f64
    })
}
