//! The estimator of Kaplan and Meier.

use proptest::prelude::*;

use super::{given::Given, *};
use crate::analysis::quantiles::{Bound, Survival};

fn survival(answered: &[u64], waited: &[u64]) -> Survival {
    let mut given = Given::default();
    for latency in answered {
        given.add(Nanoseconds(0), 0, Nanoseconds(*latency));
    }
    for latency in waited {
        given.add(Nanoseconds(0), 0, Nanoseconds(*latency)).outcome = Outcome::Pending;
    }
    Survival::of(&given.samples().primaries)
}

/// Remission of leukaemia in weeks under 6-mercaptopurine (Freireich et al., 1963).
#[test]
fn the_published_example_comes_out() {
    let survival =
        survival(&[6, 6, 6, 7, 10, 13, 16, 22, 23], &[6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]);
    for (weeks, published) in [
        (5, 1.0),
        (6, 0.857),
        (7, 0.807),
        (10, 0.753),
        (13, 0.690),
        (16, 0.627),
        (22, 0.538),
        (23, 0.448),
        (35, 0.448),
    ] {
        let found = survival.beyond(Nanoseconds(weeks));
        assert!((found - published).abs() < 0.0006, "{weeks}: {found}");
    }
    assert_eq!(survival.quantile(0.5), Bound { duration: Nanoseconds(23), at_least: false });
    assert_eq!(survival.quantile(0.6), Bound { duration: Nanoseconds(35), at_least: true });
}

#[test]
fn nothing_answered_is_only_a_bound() {
    let survival = survival(&[], &[5, 9]);
    assert_eq!(survival.quantile(0.5), Bound { duration: Nanoseconds(9), at_least: true });
    assert_eq!(survival.beyond(Nanoseconds(100)).to_bits(), 1.0_f64.to_bits());
}

#[test]
fn nothing_at_all_is_no_time() {
    assert_eq!(survival(&[], &[]).quantile(0.99), Bound { duration: Nanoseconds(0), at_least: true });
}

#[test]
fn the_longest_durations_are_in_order() {
    let survival = survival(&[1, u64::MAX, 3, u64::MAX / 2], &[]);
    assert_eq!(survival.quantile(0.5).duration, Nanoseconds(3));
    assert!(survival.quantile(1.0).duration > Nanoseconds(u64::MAX / 16));
}

proptest! {
    #[test]
    fn with_all_answered_it_is_the_order_statistic(
        mut durations in proptest::collection::vec(1..1_000_u64, 1..200),
        quantile in 0.01..0.99_f64,
    ) {
        let found = survival(&durations, &[]).quantile(quantile);
        durations.sort_unstable();
        let longer = |than: u64| durations.iter().filter(|duration| **duration > than).count() as f64;
        let least = durations
            .iter()
            .copied()
            .find(|duration| longer(*duration) <= (1.0 - quantile) * durations.len() as f64 + 1e-9);
        prop_assert_eq!(Some(found.duration.0), least);
        prop_assert!(!found.at_least);
    }

    #[test]
    fn waiting_for_nothing_never_makes_it_faster(
        durations in proptest::collection::vec(1..1_000_u64, 1..100),
        waited in proptest::collection::vec(1..1_000_u64, 0..100),
    ) {
        let without = survival(&durations, &[]);
        let with = survival(&durations, &waited);
        for quantile in [0.5, 0.9, 0.99] {
            prop_assert!(with.quantile(quantile).duration >= without.quantile(quantile).duration);
        }
    }
}
