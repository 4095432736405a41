//! Runs of slow requests at one instance.

use super::{
    given::{Given, slow},
    *,
};
use crate::analysis::{
    bursts::{bursts, chi_within},
    concurrency::in_flight_at_start,
};

fn found(given: &Given) -> (f64, f64) {
    let samples = given.samples();
    let slow = slow(&samples);
    let p = slow.count as f64 / samples.primaries.len() as f64;
    (chi_within(&samples, &slow.is, |_| true), p)
}

#[test]
fn independent_slowness_follows_itself_as_often_as_chance() {
    let given =
        Given::poisson(1, 4, 1_000.0, 30.0, |random, _, _| if chance(random, 0.04) { 0.1 } else { 0.01 });
    let (chi, p) = found(&given);
    assert!((chi - p).abs() < 0.02, "{chi} {p}");
}

#[test]
fn in_pauses_slowness_follows_itself_nearly_always() {
    // Each instance stops for 0.4 s in every 10 s, at a time of its own.
    let paused = |start: f64, instance: usize| {
        let phase = (start + 2.3 * instance as f64) % 10.0;
        if phase < 0.4 { 0.4 - phase + 0.01 } else { 0.01 }
    };
    let given = Given::poisson(1, 4, 1_000.0, 30.0, |_, start, instance| paused(start, instance));
    let (chi, p) = found(&given);
    assert!(p > 0.015 && chi > 0.9, "{chi} {p}");
}

#[test]
fn late_requests_that_overlap_are_one_burst_if_one_of_them_is_slow() {
    let mut given = Given::default();
    // Slow is beyond 40 ms: there are enough that are quick.
    for place in 0..2_000 {
        given.add(ms(place * 20), 0, ms(10));
    }
    for (start, latency) in [(5_001, 100), (5_050, 90), (5_130, 80), (9_001, 100), (20_001, 100)] {
        given.add(ms(start), 0, ms(latency));
    }
    let samples = given.samples();
    let slow = slow(&samples);
    let in_flight = in_flight_at_start(&samples);
    let found = bursts(&samples, &slow, &in_flight, |_| true);
    let starts: Vec<_> = found.iter().map(|burst| (burst.start, burst.slow)).collect();
    assert_eq!(starts, [(ms(5_001), 3), (ms(9_001), 1), (ms(20_001), 1)]);
    let without = bursts(&samples, &slow, &in_flight, |row| samples.primaries[row].start != ms(9_001));
    assert_eq!(without.len(), 2);
}

#[test]
fn instances_have_bursts_of_their_own() {
    let mut given = Given::default();
    for place in 0..2_000 {
        given.add(ms(place * 20), (place % 2) as usize, ms(10));
    }
    for instance in 0..2 {
        given.add(ms(5_001), instance, ms(100));
        given.add(ms(5_050), instance, ms(100));
    }
    let samples = given.samples();
    let found = bursts(&samples, &slow(&samples), &in_flight_at_start(&samples), |_| true);
    assert_eq!(found.iter().map(|burst| burst.slow).collect::<Vec<_>>(), [2, 2]);
}
