//! Whether instances are slow together.

use super::*;
use crate::analysis::{
    coincidence::{Coincidence, Mark, coincidence},
    rounding::count,
};

const SPAN: f64 = 60.0;

/// Requests of several instances, at random moments at `rate(start)` a second each; `slow` says which are: of when they
/// begin and where.
fn marks(
    random: &mut Pcg64,
    instances: usize,
    rate: impl Fn(f64) -> f64,
    mut slow: impl FnMut(&mut Pcg64, f64, usize) -> bool,
) -> Vec<Vec<Mark>> {
    let mut of = |instance| {
        let mut marks = Vec::new();
        let mut now = 0.0;
        loop {
            now += exponential(random, 1.0 / rate(now));
            if now >= SPAN {
                return marks;
            }
            marks.push(Mark { start: seconds(now), slow: slow(random, now, instance) });
        }
    };
    (0..instances).map(&mut of).collect()
}

fn found(units: &[Vec<Mark>], least_width: f64, random: &mut Pcg64) -> Coincidence {
    coincidence(units, seconds(SPAN), seconds(least_width), random).unwrap()
}

/// Whether it is an episode: so long, once every three seconds.
fn episode(start: f64, length: f64) -> bool {
    (start + 1.234) % 3.0 < length
}

#[test]
fn for_independent_slowness_chi_is_the_share_of_slow_requests() {
    let mut random = random(1);
    let units = marks(&mut random, 5, |_| 100.0, |random, _, _| chance(random, 0.03));
    let found = found(&units, 0.05, &mut random);
    assert!((found.chi - found.slow_share).abs() < 0.01, "{} {}", found.chi, found.slow_share);
    assert!((found.slow_share - 0.03).abs() < 0.005);
    assert!(!found.is_significant(), "{}", found.score);
}

#[test]
fn for_shared_slowness_chi_is_far_from_chance() {
    let mut random = random(1);
    let units = marks(&mut random, 5, |_| 100.0, |_, start, _| (2.3..2.8).contains(&(start % 9.7)));
    let found = found(&units, 0.02, &mut random);
    assert!(found.is_significant() && found.chi > 4.0 * found.slow_share, "{} {:?}", found.chi, found.width);
    assert!(found.share > 0.9, "{}", found.share);
}

#[test]
fn the_shared_part_of_a_mixture_is_found_within_three_tenths() {
    for (seed, part) in [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75), (5, 1.0)] {
        let mut random = random(seed);
        // Of the time, 1 ÷ 30 is episodes; of the rest, so many requests are slow that the episodes' part is right.
        let alone = if part > 0.0 { 0.033 * (1.0 - part) / part } else { 0.03 };
        let units = marks(
            &mut random,
            6,
            |_| 100.0,
            |random, start, _| chance(random, alone) || (part > 0.0 && episode(start, 0.1)),
        );
        let found = found(&units, 0.03, &mut random);
        let share = if found.is_significant() { found.share } else { 0.0 };
        // Independent slow requests in the windows of episodes are taken for shared ones, and a small part is not found.
        assert!((share - part).abs() < 0.3, "{part}: {share}");
        let is_pure = !(0.001..0.999).contains(&part);
        assert!(!is_pure || (share - part).abs() < 0.05, "{part}: {share}");
    }
}

#[test]
fn chance_seldom_looks_like_coincidence() {
    let mut p_values = 0;
    let mut significant = 0;
    for seed in 0..100 {
        let mut random = random(seed);
        let units = marks(&mut random, 4, |_| 20.0, |random, _, _| chance(random, 0.04));
        let found = found(&units, 0.2, &mut random);
        p_values += usize::from(found.p_value <= 0.0101);
        significant += usize::from(found.is_significant());
    }
    assert!(p_values <= 3 && significant <= 1, "{p_values} {significant}");
}

#[test]
fn more_requests_at_a_time_are_no_coincidence() {
    let significant = times(30, |seed| {
        let mut random = random(seed);
        let rate = |start| if episode(start, 0.5) { 300.0 } else { 30.0 };
        let units = marks(&mut random, 4, rate, |random, _, _| chance(random, 0.03));
        found(&units, 0.1, &mut random).is_significant()
    });
    assert!(significant <= 1, "{significant}");
}

#[test]
fn pauses_of_single_instances_are_no_coincidence() {
    let significant = times(30, |seed| {
        let mut random = random(seed);
        let starts: Vec<Vec<f64>> =
            (0..5).map(|_| (0..8).map(|_| random.random::<f64>() * SPAN).collect()).collect();
        let units = marks(
            &mut random,
            5,
            |_| 50.0,
            |_, start, instance| starts[instance].iter().any(|pause| (0.0..0.3).contains(&(start - pause))),
        );
        found(&units, 0.1, &mut random).is_significant()
    });
    assert!(significant <= 1, "{significant}");
}

#[test]
fn half_of_the_instances_together_is_the_limit() {
    let share = |struck: usize| {
        let mut random = random(9);
        let units =
            marks(&mut random, 8, |_| 100.0, |_, start, instance| instance < struck && episode(start, 0.3));
        let found = found(&units, 0.1, &mut random);
        if found.is_significant() { found.share } else { 0.0 }
    };
    assert!(share(8) > 0.9, "{}", share(8));
    assert!(share(5) > 0.8, "{}", share(5));
    assert!(share(2) < 0.3, "{}", share(2));
}

#[test]
fn one_instance_coincides_with_nobody() {
    let mut random = random(1);
    let units = marks(&mut random, 1, |_| 100.0, |random, _, _| chance(random, 0.03));
    assert!(coincidence(&units, seconds(SPAN), ms(100), &mut random).is_none());
    assert!(coincidence(&[], seconds(SPAN), ms(100), &mut random).is_none());
    let with_idle = [units[0].clone(), Vec::new()];
    assert!(coincidence(&with_idle, seconds(SPAN), ms(100), &mut random).is_none());
}

#[test]
fn coincident_windows_are_where_the_episodes_are() {
    let mut random = random(1);
    let units = marks(&mut random, 5, |_| 100.0, |_, start, _| episode(start, 0.4));
    let found = found(&units, 0.02, &mut random);
    let width = found.width.as_seconds();
    let at = |start: f64| found.windows[count(start / width)];
    // Around the middle of each episode, and in the middle between two.
    for number in 1..19 {
        let begin = f64::from(number) * 3.0 - 1.234;
        assert!(at(begin + 0.2), "{number}");
        assert!(!at(begin + 1.7), "{number}");
    }
}

#[test]
fn instances_with_few_requests_each_are_slow_together_too() {
    let mut random = random(1);
    let units = marks(&mut random, 20_000, |_| 0.05, |_, start, _| episode(start, 0.1));
    let shared = found(&units, 0.02, &mut random);
    assert!(shared.is_significant() && shared.share > 0.8, "{} {}", shared.share, shared.score);
    let units = marks(&mut random, 20_000, |_| 0.05, |random, _, _| chance(random, 0.03));
    assert!(!found(&units, 0.1, &mut random).is_significant());
}
