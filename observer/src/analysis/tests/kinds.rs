//! Kinds of requests, and instances that hang.

use super::{
    given::{Given, slow},
    *,
};
use crate::analysis::{hung::hung, kinds::Kinds};

/// A hundred requests of each class, as long as it says.
fn given(classes: &[(&'static str, u64)]) -> Given {
    let mut given = Given::default();
    for place in 0..100 {
        for (_, latency) in classes {
            given.add(ms(place * 10), 0, ms(*latency));
        }
    }
    given.with_classes(|place, _| classes[place % classes.len()].0)
}

/// The kind of each class, by name.
fn kinds(given: &Given, elevated: &[&str]) -> Vec<(String, usize)> {
    let samples = given.samples();
    let name = |class: usize| samples.classes.text(class, &given.names);
    let kinds = Kinds::of_classes(&samples, |class| {
        class < samples.classes.len() && elevated.contains(&name(class).as_str())
    });
    let mut found: Vec<_> =
        samples.primaries.iter().map(|sample| (name(sample.class as usize), kinds.of(sample))).collect();
    found.sort();
    found.dedup();
    assert!(found.iter().all(|(_, kind)| *kind < kinds.count()));
    found
}

#[test]
fn classes_that_take_about_as_long_are_of_one_kind() {
    let given = given(&[("a", 10), ("b", 12), ("c", 14), ("d", 30), ("e", 40)]);
    let kinds: Vec<usize> = kinds(&given, &[]).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, [0, 0, 0, 1, 1]);
}

#[test]
fn a_chain_of_classes_that_are_alike_does_not_make_the_ends_alike() {
    let given = given(&[("a", 10), ("b", 14), ("c", 19), ("d", 26)]);
    let kinds: Vec<usize> = kinds(&given, &[]).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, [0, 0, 1, 1]);
}

#[test]
fn a_class_that_is_slow_more_often_is_another_kind() {
    let given = given(&[("a", 10), ("b", 10)]);
    let kinds = kinds(&given, &["b"]);
    assert_ne!(kinds[0].1, kinds[1].1);
}

#[test]
fn without_classes_there_is_one_kind() {
    let mut given = Given::default();
    given.add(ms(0), 0, ms(10));
    let samples = given.samples();
    let kinds = Kinds::of_classes(&samples, |_| false);
    assert_eq!((kinds.count(), kinds.of(&samples.primaries[0])), (1, 0));
}

/// Two instances for a minute, the second of which answers nothing from one moment to another.
fn hanging(from: u64, to: u64) -> Given {
    let mut given = Given::default();
    for place in 0..600 {
        given.add(ms(place * 100), 0, ms(10));
        let start = place * 100 + 50;
        let hangs = (from..to).contains(&start);
        let exchange = given.add(ms(start), 1, if hangs { ms(60_000 - start) } else { ms(10) });
        exchange.outcome = if hangs { Outcome::Pending } else { Outcome::Ok };
    }
    given
}

fn hung_of(given: &Given) -> Vec<bool> {
    let samples = given.samples();
    hung(&samples, &slow(&samples))
}

#[test]
fn an_instance_that_answers_nothing_any_more_hangs() {
    assert_eq!(hung_of(&hanging(30_000, 60_000)), [false, true]);
    assert_eq!(hung_of(&hanging(0, 60_000)), [false, true]);
}

#[test]
fn one_that_answers_again_does_not_hang() {
    assert_eq!(hung_of(&hanging(10_000, 20_000)), [false, false]);
}

#[test]
fn one_whose_last_answers_are_still_due_does_not_hang() {
    assert_eq!(hung_of(&hanging(59_800, 60_000)), [false, false]);
}
