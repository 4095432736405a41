//! Runs of slow requests at one instance.

use observer_common::Nanoseconds;

use super::{
    concurrency::Ranks,
    samples::{Samples, number},
    slow::Slow,
};

/// Late requests at one instance, each of which began before an earlier one was over, some of them slow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Burst {
    /// Which instance.
    pub(super) instance: u32,
    /// When the first began.
    pub(super) start: Nanoseconds,
    /// How many of them are slow.
    pub(super) slow: u32,
    /// Where the number of requests that the first found under way lies among what requests that are not slow find,
    /// from 0 to 1. Who is slow because of a queue finds more than usual, who is struck by something else does not.
    pub(super) found_rank: f64,
}

/// The bursts among the requests that `counts` says count, for instances one after the other.
pub(super) fn bursts(
    samples: &Samples,
    slow: &Slow,
    in_flight: &[u32],
    counts: impl Fn(usize) -> bool,
) -> Vec<Burst> {
    let mut bursts: Vec<Burst> = Vec::new();
    for (instance, rows) in samples.by_instance.iter().enumerate() {
        let rows = rows.iter().map(|row| *row as usize);
        let usual =
            Ranks::of(rows.clone().filter(|row| !slow.late[*row]).map(|row| in_flight[row]).collect());
        let mut until = Nanoseconds(0);
        let mut burst: Option<Burst> = None;
        for row in rows.filter(|row| slow.late[*row] && counts(*row)) {
            let sample = &samples.primaries[row];
            let one = u32::from(slow.is[row]);
            match &mut burst {
                Some(burst) if sample.start <= until => {
                    burst.slow += one;
                    until = until.max(sample.end());
                }
                _ => {
                    bursts.extend(burst.take().filter(|burst| burst.slow > 0));
                    burst = Some(Burst {
                        instance: number(instance),
                        start: sample.start,
                        slow: one,
                        found_rank: usual.rank(in_flight[row]),
                    });
                    until = sample.end();
                }
            }
        }
        bursts.extend(burst.filter(|burst| burst.slow > 0));
    }
    bursts
}

/// The chance that the next request to the same instance is slow, given that one is, over all instances and the requests
/// that `counts` says count.
pub(super) fn chi_within(samples: &Samples, is_slow: &[bool], counts: impl Fn(usize) -> bool) -> f64 {
    let (mut slow, mut followed) = (0_u64, 0_u64);
    for rows in &samples.by_instance {
        let mut before = false;
        for row in rows.iter().map(|row| *row as usize).filter(|row| counts(*row)) {
            slow += u64::from(before);
            followed += u64::from(before && is_slow[row]);
            before = is_slow[row];
        }
    }
    followed as f64 / slow.max(1) as f64
}
