//! Is the request that began next, at another instance, slow too?

use observer_common::Nanoseconds;

use super::{
    bootstrap::{BLOCKS, Bootstrap, interval},
    samples::{Sample, Samples},
};

/// So many neighbours are looked at to find one at another instance.
const REACH: usize = 64;

/// χ by nearest neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    /// χ = P(the nearest request at another instance is slow | this one is).
    pub(super) chi: f64,
    /// Its interval.
    pub(super) ci: [f64; 2],
}

/// χ over all slow requests that `counts` says count, with the request that began nearest in time at another instance, at
/// most `within` away. Unlike windows, neighbours do not dilute episodes that are shorter than a window.
pub(super) fn nearest(
    samples: &Samples,
    is_slow: &[bool],
    counts: impl Fn(usize) -> bool,
    within: Nanoseconds,
    bootstrap: &Bootstrap,
) -> Option<Nearest> {
    let block = samples.span.0 / BLOCKS as u64 + 1;
    let mut blocks = [[0_u32; 2]; BLOCKS];
    let slow = (0..is_slow.len()).filter(|row| is_slow[*row] && counts(*row));
    for row in slow {
        if let Some(other) = neighbour(&samples.primaries, row, within) {
            let place = usize::try_from(samples.primaries[row].start.0 / block).unwrap_or(BLOCKS - 1);
            let cell = &mut blocks[place.min(BLOCKS - 1)];
            cell[0] += 1;
            cell[1] += u32::from(is_slow[other]);
        }
    }
    let chi = |times: &[u8; BLOCKS]| {
        let (mut pairs, mut both) = (0.0, 0.0);
        for (block, times) in blocks.iter().zip(times) {
            pairs += f64::from(*times) * f64::from(block[0]);
            both += f64::from(*times) * f64::from(block[1]);
        }
        if pairs > 0.0 { both / pairs } else { 0.0 }
    };
    let pairs: u32 = blocks.iter().map(|block| block[0]).sum();
    (pairs > 0).then(|| Nearest { chi: chi(&[1; BLOCKS]), ci: interval(&bootstrap.figures(chi)) })
}

/// The request at another instance that began nearest to this one.
fn neighbour(primaries: &[Sample], row: usize, within: Nanoseconds) -> Option<usize> {
    let own = &primaries[row];
    let is_elsewhere = |other: &usize| primaries[*other].instance != own.instance;
    let before = (row.saturating_sub(REACH)..row).rev().find(is_elsewhere);
    let after = (row + 1..primaries.len().min(row + 1 + REACH)).find(is_elsewhere);
    let distance = |other: usize| primaries[other].start.0.abs_diff(own.start.0);
    [before, after]
        .into_iter()
        .flatten()
        .min_by_key(|other| distance(*other))
        .filter(|other| distance(*other) <= within.0)
}

/// The share of the variance of slowness that lies between instances: `Σ n_b (p_b − p)² ÷ (n p (1 − p))`.
pub(super) fn between_instances(samples: &Samples, is_slow: &[bool]) -> f64 {
    let all = is_slow.len() as f64;
    let p = is_slow.iter().filter(|slow| **slow).count() as f64 / all.max(1.0);
    if p <= 0.0 || p >= 1.0 {
        return 0.0;
    }
    let sum: f64 = samples
        .by_instance
        .iter()
        .filter(|rows| !rows.is_empty())
        .map(|rows| {
            let own = rows.iter().filter(|row| is_slow[**row as usize]).count() as f64 / rows.len() as f64;
            rows.len() as f64 * (own - p).powi(2)
        })
        .sum();
    sum / (all * p * (1.0 - p))
}
