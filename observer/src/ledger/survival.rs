//! Quantiles that requests without an answer take part in.
//!
//! A request that waited for 2 s in vain would have taken at least 2 s. Leaving it out makes a hung instance look
//! fast; counting it as 2 s makes it look faster than it is. The estimator of Kaplan and Meier (Nonparametric
//! Estimation from Incomplete Observations, 1958, equation 2b) does neither:
//!
//! ```text
//! S(t) = ∏ (1 − dᵢ / nᵢ) over all answered durations tᵢ ≤ t
//! ```
//!
//! where `dᵢ` requests were answered after `tᵢ`, and `nᵢ` had waited that long. The quantile `q` is the smallest `t`
//! with `S(t) ≤ 1 − q`; where no duration is that long, all that is known is that it lies beyond the longest one.

use observer_common::Nanoseconds;

use super::distribution::Merged;

/// A quantile, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantile {
    /// It is this.
    Exactly(Nanoseconds),
    /// It is this or longer: too many requests were not answered.
    AtLeast(Nanoseconds),
}

/// The `quantiles`, ascending, of durations of which the `censored` ones are only known to be longer than they are.
/// Without those they are the quantiles of `answered`.
pub fn quantiles<const COUNT: usize>(
    answered: &Merged,
    censored: &Merged,
    quantiles: [f64; COUNT],
) -> [Quantile; COUNT] {
    if censored.count() == 0 {
        return quantiles.map(|quantile| Quantile::Exactly(answered.quantile(quantile)));
    }
    let longest = answered.max().max(censored.max());
    let mut found = [Quantile::AtLeast(longest); COUNT];
    let mut wanted = quantiles.iter().zip(found.iter_mut()).peekable();
    let mut waiting = answered.count() + censored.count();
    let mut surviving = 1.0;
    let mut gone = censored.counts().peekable();
    for (duration, count) in answered.counts() {
        // Who gave up after exactly this long was still waiting then.
        while let Some((_, count)) = gone.next_if(|(waited, _)| *waited < duration) {
            waiting -= count;
        }
        surviving *= 1.0 - count as f64 / waiting as f64;
        waiting -= count;
        // A product of many factors is not exact.
        while let Some((_, place)) = wanted.next_if(|(quantile, _)| surviving <= 1.0 - **quantile + 1e-12) {
            *place = Quantile::Exactly(answered.longest_like(duration));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ledger::distribution::Distribution;

    fn merged(durations: &[u64]) -> Merged {
        let mut distribution = Distribution::default();
        for duration in durations {
            distribution.record(Nanoseconds(*duration));
        }
        let mut merged = Merged::default();
        merged.add(&distribution);
        merged
    }

    /// Remission of leukaemia in weeks under 6-mercaptopurine, the standard example (Freireich et al., 1963).
    #[test]
    fn the_published_example_comes_out() {
        let answered = merged(&[6, 6, 6, 7, 10, 13, 16, 22, 23]);
        let censored = merged(&[6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]);
        // The published estimate falls below 0.857 at 6, 0.753 at 10, 0.627 at 16, 0.538 at 22, 0.448 at 23.
        let published = [(0.10, 6), (0.24, 10), (0.37, 16), (0.46, 22), (0.5, 23), (0.55, 23)];
        for (quantile, weeks) in published {
            assert_eq!(
                quantiles(&answered, &censored, [quantile]),
                [Quantile::Exactly(Nanoseconds(weeks))],
                "{quantile}"
            );
        }
        assert_eq!(quantiles(&answered, &censored, [0.56, 0.9]), [Quantile::AtLeast(Nanoseconds(35)); 2]);
    }

    #[test]
    fn a_hung_instance_has_no_known_tail() {
        let answered = merged(&[10; 90]);
        let censored = merged(&[1_000; 10]);
        let found = quantiles(&answered, &censored, [0.5, 0.9, 0.95]);
        let ten = Quantile::Exactly(Nanoseconds(10));
        assert_eq!(found, [ten, ten, Quantile::AtLeast(Nanoseconds(1_000))]);
    }

    proptest! {
        #[test]
        fn with_all_answered_it_is_the_histogram(durations in proptest::collection::vec(2..100_000_000_u64, 1..300)) {
            let answered = merged(&durations);
            let plain = [0.5, 0.9, 0.99].map(|quantile| Quantile::Exactly(answered.quantile(quantile)));
            prop_assert_eq!(quantiles(&answered, &Merged::default(), [0.5, 0.9, 0.99]), plain);
            // One that gave up at once tells nothing, and changes nothing but by its rank.
            let early = merged(&[1]);
            let found = quantiles(&answered, &early, [0.5, 0.9, 0.99]);
            for (one, other) in found.iter().zip(plain) {
                prop_assert!(matches!(one, Quantile::Exactly(_)), "{one:?} {other:?}");
            }
        }

        #[test]
        fn waiting_longer_never_shortens_a_quantile(
            durations in proptest::collection::vec(1..1_000_u64, 1..100),
            waited in proptest::collection::vec(1..1_000_u64, 1..50),
        ) {
            let answered = merged(&durations);
            let shorter = quantiles(&answered, &merged(&waited), [0.5, 0.9]);
            let longer: Vec<_> = waited.iter().map(|waited| waited + 500).collect();
            let longer = quantiles(&answered, &merged(&longer), [0.5, 0.9]);
            let least = |quantile: &Quantile| match quantile {
                Quantile::Exactly(duration) | Quantile::AtLeast(duration) => *duration,
            };
            for (shorter, longer) in shorter.iter().zip(&longer) {
                prop_assert!(least(longer) >= least(shorter), "{shorter:?} {longer:?}");
            }
        }
    }
}
