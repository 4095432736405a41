//! How many requests are under way, and what that does.

use proptest::prelude::*;

use super::{
    given::{Given, slow},
    traffic::{Traffic, rate},
    *,
};
use crate::{
    analysis::concurrency::{Load, Ranks, in_flight_at_start, load},
    simulation::{Arrivals, Balancing, ServiceTime, Shape},
};

#[test]
fn a_rank_is_the_share_below_and_half_of_those_equal() {
    let ranks = Ranks::of(vec![5, 1, 3, 3]);
    let found = [0, 1, 2, 3, 4, 5, 6].map(|number| ranks.rank(number));
    let expected = [0.0, 0.125, 0.25, 0.5, 0.75, 0.875, 1.0];
    assert!(
        found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12),
        "{found:?}"
    );
    assert!((Ranks::of(Vec::new()).rank(7) - 0.5).abs() < 1e-12);
}

proptest! {
    #[test]
    fn in_flight_is_what_counting_finds(
        requests in proptest::collection::vec((0..100_u64, 0..30_u64, 0..3_usize, 0..5_u64), 0..80),
    ) {
        let mut given = Given::default();
        for (start, latency, instance, lag) in requests {
            given.add(Nanoseconds(start), instance, Nanoseconds(latency)).read_lag = Some(Nanoseconds(lag));
        }
        let samples = given.samples();
        let found = in_flight_at_start(&samples);
        for (place, sample) in samples.primaries.iter().enumerate() {
            let before = samples.primaries[..place].iter();
            let under_way =
                before.filter(|other| other.instance == sample.instance && other.arrived() > sample.start);
            prop_assert_eq!(found[place] as usize, under_way.count());
        }
    }
}

/// M/D/k: constant service times, with so many slots, at this utilisation.
fn queues(slots: u32, utilisation: f64) -> Load {
    let mut traffic = Traffic::to(4, ServiceTime::only(Shape::Constant(ms(10))).unwrap());
    traffic.system.slots = count(slots);
    traffic.system.balancing = Balancing::Random;
    traffic.system.arrivals = Arrivals::Poisson(rate(utilisation * f64::from(4 * slots) / 0.010));
    let samples = traffic.given(false).samples();
    load(&samples, &slow(&samples), &in_flight_at_start(&samples))
}

#[test]
fn latency_grows_from_as_many_under_way_as_are_served_at_once() {
    for slots in [1, 2, 4] {
        let load = queues(slots, 0.9);
        let knee = load.knee.unwrap();
        assert!((0.6..1.7).contains(&(knee / f64::from(slots))), "{slots}: {knee}");
        let utilisation = load.utilisation().unwrap();
        assert!((0.5..1.5).contains(&utilisation), "{slots}: {utilisation}");
    }
}

#[test]
fn where_nobody_waits_there_is_no_knee() {
    let load = queues(64, 0.3);
    assert_eq!(load.knee, None);
    assert!((load.unloaded - 0.010).abs() < 1e-6);
    // Little: rate × latency.
    assert!((load.concurrency - 0.3 * 64.0).abs() < 1.0, "{}", load.concurrency);
}

#[test]
fn one_slot_serves_one_at_a_time_and_eight_do_not() {
    let single = queues(1, 0.5);
    assert_eq!(single.one_at_a_time, Some(true));
    // Work that arrives in a second at one slot is its utilisation.
    let offered = single.offered.as_ref().unwrap().mean;
    assert!((offered - 0.5).abs() < 0.03, "{offered}");
    assert!((single.queueing().unwrap().utilisation - 0.5).abs() < 0.03);
    assert_eq!(queues(8, 0.4).one_at_a_time, Some(false));
}

#[test]
fn latency_that_waits_correlates_with_how_many_are_under_way() {
    assert!(queues(1, 0.8).correlation > 0.9);
    let given = Given::poisson(1, 2, 500.0, 20.0, |random, _, _| exponential(random, 0.01));
    let samples = given.samples();
    let load = load(&samples, &slow(&samples), &in_flight_at_start(&samples));
    assert!(load.correlation.abs() < 0.05, "{}", load.correlation);
}
