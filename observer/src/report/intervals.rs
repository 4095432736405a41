//! How exactly quantiles are known: intervals between order statistics.
//!
//! Of `n` durations the number `B` of those that do not exceed the true quantile `p` is binomial, so the quantile lies
//! between the durations of ranks `l` and `u` with the probability `P(l ≤ B < u)`, whatever the distribution is. The
//! ranks are the closest ones with
//!
//! ```text
//! P(B < l) ≤ 2.5 %   and   P(B ≥ u) ≤ 2.5 %
//! ```
//!
//! (David and Nagaraja, Order Statistics, 2003, section 7.1), hence at least 95 %. Exchanges without an answer that
//! waited for less than the quantile tell nothing about it: `n` is the number of all others. The durations at these
//! ranks are read off the same estimate as the quantile itself. It takes exchanges as independent of each other; where
//! slow ones come in bursts, less is known than the interval says.

use super::model::Intervals;
use crate::ledger::{self, Merged, Quantile};

/// How much may lie on either side of an interval.
const OUTSIDE: f64 = 0.025;
/// How many standard deviations from the mean that is, in a normal distribution.
const DEVIATIONS: f64 = 1.959_963_984_540_054;
/// From this standard deviation on the normal distribution is exact enough; the ranks are rounded outwards.
const LARGE: f64 = 100.0;

impl Intervals {
    /// The intervals of these durations, of which the `censored` ones are only known to be longer than they are.
    pub(super) fn of(answered: &Merged, censored: &Merged) -> Self {
        let interval = |quantile| interval(answered, censored, quantile);
        Self { p50: interval(0.5), p99: interval(0.99), p999: interval(0.999) }
    }
}

fn interval(answered: &Merged, censored: &Merged, quantile: f64) -> Option<[f64; 2]> {
    if answered.count() == 0 {
        return None;
    }
    let [Quantile::Exactly(estimate)] = ledger::quantiles(answered, censored, [quantile]) else {
        return None;
    };
    let longer = censored.counts().filter(|(waited, _)| *waited >= estimate).map(|(_, count)| count);
    let number = answered.count() + longer.sum::<u64>();
    let (low, high) = ranks(number, quantile)?;
    // Half a rank less, so that rounding cannot make it the next one.
    let shares = [low, high].map(|rank| (rank as f64 - 0.5) / number as f64);
    match ledger::quantiles(answered, censored, shares) {
        [Quantile::Exactly(low), Quantile::Exactly(high)] => Some([low.as_seconds(), high.as_seconds()]),
        _ => None,
    }
}

/// The ranks, from one, between which the quantile lies; nothing where one of them does not exist.
fn ranks(number: u64, quantile: f64) -> Option<(u64, u64)> {
    let mean = number as f64 * quantile;
    let deviation = (mean * (1.0 - quantile)).sqrt();
    let (low, high) = if deviation > LARGE {
        normal_ranks(mean, deviation)
    } else {
        exact_ranks(number, quantile, mean, deviation)
    };
    (low >= 1 && high <= number).then_some((low, high))
}

fn normal_ranks(mean: f64, deviation: f64) -> (u64, u64) {
    let away = DEVIATIONS * deviation;
    (whole((mean - away).floor()), whole((mean + away).ceil()) + 1)
}

/// The ranks by the binomial distribution itself.
fn exact_ranks(number: u64, quantile: f64, mean: f64, deviation: f64) -> (u64, u64) {
    // What is further below has next to no probability.
    let first = whole(mean - 9.0 * deviation - 9.0);
    let mut probability = libm::exp(logarithm(number, first, quantile));
    let mut below = 0.0; // P(B < rank)
    let (mut low, mut rank) = (first, first);
    while below < 1.0 - OUTSIDE && rank <= number {
        if below <= OUTSIDE {
            low = rank;
        }
        below += probability;
        probability *= (number - rank) as f64 / (rank + 1) as f64 * quantile / (1.0 - quantile);
        rank += 1;
    }
    (low, rank)
}

/// The logarithm of `P(B = successes)`.
fn logarithm(number: u64, successes: u64, quantile: f64) -> f64 {
    let factorial = |of: u64| libm::lgamma(of as f64 + 1.0);
    let ways = factorial(number) - factorial(successes) - factorial(number - successes);
    ways + successes as f64 * libm::log(quantile) + (number - successes) as f64 * libm::log1p(-quantile)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are not negative and fit into a number of exchanges"
)]
fn whole(rank: f64) -> u64 {
    rank.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use observer_common::Nanoseconds;

    use super::*;
    use crate::ledger::Distribution;

    fn merged(durations: impl IntoIterator<Item = u64>) -> Merged {
        let mut distribution = Distribution::default();
        for duration in durations {
            distribution.record(Nanoseconds(duration));
        }
        let mut merged = Merged::default();
        merged.add(&distribution);
        merged
    }

    #[test]
    fn ranks_of_the_median_are_the_published_ones() {
        // Conover, Practical Nonparametric Statistics, 1999, table A3, and every table of the sign test.
        for (number, expected) in [(6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (50, (18, 33)), (100, (40, 61))]
        {
            assert_eq!(ranks(number, 0.5), Some(expected), "{number}");
        }
        assert_eq!(ranks(5, 0.5), None);
    }

    #[test]
    fn a_high_quantile_takes_many() {
        // 1 − 0.99ⁿ ≥ 97.5 % from n = 368 on, and 1 − 0.999ⁿ from n = 3,688 on.
        for (quantile, least) in [(0.99, 368), (0.999, 3_688)] {
            assert_eq!(ranks(least - 1, quantile), None);
            assert_eq!(ranks(least, quantile).map(|ranks| ranks.1), Some(least));
        }
    }

    #[test]
    fn the_normal_distribution_goes_on_where_the_exact_one_ends() {
        for (number, quantile) in [(40_000_u32, 0.5), (1_000_000, 0.99), (10_000_000, 0.999)] {
            let mean = f64::from(number) * quantile;
            let deviation = (mean * (1.0 - quantile)).sqrt();
            let (low, high) = exact_ranks(number.into(), quantile, mean, deviation);
            let (wide_low, wide_high) = normal_ranks(mean, deviation);
            assert!((wide_low..=wide_low + 2).contains(&low), "{low} {wide_low}");
            assert!((wide_high - 2..=wide_high).contains(&high), "{high} {wide_high}");
        }
    }

    #[test]
    fn the_interval_is_between_the_durations_of_the_ranks() {
        let durations = merged(1..=100);
        assert_eq!(interval(&durations, &Merged::default(), 0.5), Some([40e-9, 61e-9]));
        assert_eq!(interval(&durations, &Merged::default(), 0.99), None);
        assert_eq!(Intervals::of(&Merged::default(), &Merged::default()), Intervals::default());
    }

    #[test]
    fn who_gave_up_early_tells_nothing_and_who_waits_long_may_take_the_bound_away() {
        let answered = merged(1..=100);
        let early = interval(&answered, &merged([1; 50]), 0.5).unwrap();
        let alone = interval(&answered, &Merged::default(), 0.5).unwrap();
        let same = |one: f64, other: f64| (one - other).abs() < 1.5e-9;
        assert!(same(early[0], alone[0]) && same(early[1], alone[1]), "{early:?} {alone:?}");
        assert_eq!(interval(&answered, &merged([1_000; 90]), 0.5), None);
    }

    #[test]
    fn nineteen_in_twenty_intervals_hold_the_true_quantile() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % 1_000_000 + 1
        };
        let holds = |found: Option<[f64; 2]>, truth: f64| {
            found.is_some_and(|[low, high]| low * 0.999 <= truth && truth <= high * 1.001)
        };
        let mut held = 0;
        for _ in 0..400 {
            let durations = merged((0..1_000).map(|_| next()));
            held += u32::from(holds(interval(&durations, &Merged::default(), 0.99), 990_000e-9));
        }
        assert!(held >= 372, "{held} of 400");
    }
}
