//! Requests that the network made slow.

use observer_common::Nanoseconds;

use super::{attributable::attributable_to, samples::Samples, slow::Slow};

/// The part of its excess that a round trip is longer than usual by, where it explains a slow request.
const ROUND_TRIP: f64 = 0.4;

/// Slow requests that the network explains.
pub(super) struct Explained {
    /// Which, and which part of each.
    pub(super) slow: Vec<(usize, f64)>,
    /// How often requests with a segment that was seen again are slow, and how often others are.
    pub(super) rates: Option<(f64, f64)>,
}

/// Slow requests during which a segment was seen again, as far as those are slow more often than others, and slow requests
/// whose round-trip time is that much longer than usual.
pub(super) fn network(samples: &Samples, slow: &Slow, left: &[f64]) -> Explained {
    let (mut again, mut not) = ([0.0; 2], [0.0; 2]);
    for (row, sample) in samples.primaries.iter().enumerate() {
        let counts = if sample.retransmitted { &mut again } else { &mut not };
        counts[0] += 1.0;
        counts[1] += left[row];
    }
    let rates = (again[0] > 0.0 && not[0] > 0.0).then(|| (again[1] / again[0], not[1] / not[0]));
    let marked: Vec<bool> = samples.primaries.iter().map(|sample| sample.retransmitted).collect();
    let attributable = attributable_to(&marked, left);
    let usual = usual_round_trip(samples);
    let mut explained = Vec::new();
    for row in slow.rows() {
        let sample = &samples.primaries[row];
        let excess = sample.latency.0.saturating_sub(slow.median.0) as f64;
        let longer = match (sample.round_trip, usual) {
            (Some(own), Some(usual)) => own.0.saturating_sub(usual.0) as f64,
            _ => 0.0,
        };
        if longer >= ROUND_TRIP * excess {
            explained.push((row, 1.0));
        } else if sample.retransmitted && attributable > 0.0 {
            explained.push((row, attributable));
        }
    }
    Explained { slow: explained, rates }
}

/// The lower quartile of the round-trip times.
fn usual_round_trip(samples: &Samples) -> Option<Nanoseconds> {
    let step = (samples.primaries.len() / 4_000).max(1);
    let mut known: Vec<_> =
        samples.primaries.iter().step_by(step).filter_map(|sample| sample.round_trip).collect();
    let place = known.len() / 4;
    (!known.is_empty()).then(|| *known.select_nth_unstable(place).1)
}
