//! Random numbers that a seed decides, and the distributions that are drawn from them.
//!
//! Every purpose has a stream of its own, so that a policy which sends more copies does not change when requests
//! arrive or how long their first copies take: policies are compared on the same requests (common random numbers).
//! Logarithms and the like come from `libm`, whose results do not depend on the processor.

use std::f64::consts::TAU;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// One stream for each purpose.
#[derive(Debug)]
pub(super) struct Streams {
    /// When requests arrive, and how long clients think.
    pub(super) arrivals: Pcg64,
    /// How long first copies take.
    pub(super) primaries: Pcg64,
    /// How long further copies take.
    pub(super) copies: Pcg64,
    /// Where first copies go.
    pub(super) balancing: Pcg64,
    /// Where further copies go.
    pub(super) copy_balancing: Pcg64,
    /// Whether a late request is hedged.
    pub(super) coins: Pcg64,
}

impl Streams {
    /// The streams of a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut root = Pcg64::seed_from_u64(seed);
        // Streams of one generator must also start apart: from the same state they would be related.
        let mut stream = |number| Pcg64::new(root.random(), number);
        Self {
            arrivals: stream(0),
            primaries: stream(1),
            copies: stream(2),
            balancing: stream(3),
            copy_balancing: stream(4),
            coins: stream(5),
        }
    }
}

/// A number from the exponential distribution with mean 1, by inversion.
pub(super) fn exponential(random: &mut Pcg64) -> f64 {
    // One minus a number below one is never zero.
    -libm::log(1.0 - random.random::<f64>())
}

/// A number from the standard normal distribution (Box and Muller).
pub(super) fn standard_normal(random: &mut Pcg64) -> f64 {
    let radius = (2.0 * exponential(random)).sqrt();
    radius * libm::cos(TAU * random.random::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let count = 200_000;
        let values: Vec<_> = (0..count).map(|_| draw()).collect();
        let mean = values.iter().sum::<f64>() / f64::from(count);
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / f64::from(count);
        (mean, variance)
    }

    /// Fails beyond five standard errors.
    fn assert_close(found: f64, expected: f64, standard_error: f64) {
        assert!((found - expected).abs() < 5.0 * standard_error, "{found} is not about {expected}");
    }

    #[test]
    fn the_exponential_distribution_has_mean_and_variance_one() {
        let mut streams = Streams::new(1);
        let (mean, variance) = moments(|| exponential(&mut streams.primaries));
        assert_close(mean, 1.0, 0.002_3);
        assert_close(variance, 1.0, 0.006_4);
    }

    #[test]
    fn the_normal_distribution_has_mean_zero_and_variance_one() {
        let mut streams = Streams::new(1);
        let (mean, variance) = moments(|| standard_normal(&mut streams.primaries));
        assert_close(mean, 0.0, 0.002_3);
        assert_close(variance, 1.0, 0.003_2);
    }

    #[test]
    fn a_seed_decides_every_stream_and_no_two_are_alike() {
        let draw = |seed| {
            let Streams { arrivals, primaries, copies, balancing, copy_balancing, coins } =
                Streams::new(seed);
            [arrivals, primaries, copies, balancing, copy_balancing, coins]
                .map(|mut stream| stream.random::<u64>())
        };
        assert_eq!(draw(7), draw(7));
        let mut all = [draw(7), draw(8)].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 12);
    }

    /// The first numbers, so that a change of generator or of its streams does not pass unseen.
    #[test]
    fn the_numbers_of_a_seed_never_change() {
        let mut streams = Streams::new(1);
        let numbers = [exponential(&mut streams.arrivals), standard_normal(&mut streams.primaries)];
        insta::assert_debug_snapshot!(numbers, @"
        [
            1.3307820350149477,
            -0.6381478532305482,
        ]
        ");
    }
}
