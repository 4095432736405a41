//! Who is slow more often than the others.

use super::{
    given::{Given, slow},
    *,
};
use crate::analysis::{
    attributable::attributable,
    composition::findings,
    elevated::{Group, Member, compare},
};

/// A minute of requests in equal steps to each group: how many, and with which chance each is slow.
fn groups(seed: u64, groups: &[(usize, f64)]) -> Vec<Group> {
    let mut random = random(seed);
    let mut members = Vec::new();
    for (group, (requests, chance_of_it)) in groups.iter().enumerate() {
        for place in 0..*requests {
            members.push(Member {
                group: u32::try_from(group).unwrap(),
                start: seconds(60.0 * place as f64 / *requests as f64),
                slow: f64::from(u8::from(chance(&mut random, *chance_of_it))),
            });
        }
    }
    compare(members.into_iter(), groups.len(), seconds(60.0))
}

fn which(found: &[Group]) -> Vec<bool> {
    found.iter().map(|group| group.is_elevated).collect()
}

#[test]
fn two_slow_ones_of_four_do_not_hide_each_other() {
    let found = groups(1, &[(2_000, 0.01), (2_000, 0.5), (2_000, 0.4), (2_000, 0.01)]);
    assert_eq!(which(&found), [false, true, true, false]);
}

/// `1 − p_rest ÷ p_group`, for those that are elevated alone.
#[test]
fn what_the_rest_would_have_too_is_not_attributable() {
    let group = |is_elevated| Group { is_elevated, ..Group::default() };
    let groups = [group(false), group(true), group(false)];
    // One in a hundred, one in two, one in a hundred.
    let requests = (0..3_000_u32)
        .map(|place| (place % 3, if place % 3 == 1 { place % 2 == 0 } else { place % 100 == 0 }));
    let (of, left): (Vec<u32>, Vec<f64>) = requests.map(|(of, slow)| (of, f64::from(u8::from(slow)))).unzip();
    let parts = attributable(&groups, of.into_iter(), &left);
    assert!((parts[1] - 0.98).abs() < 0.005, "{parts:?}");
    assert!(parts[0] + parts[2] < 1e-12, "{parts:?}");
}

#[test]
fn where_all_are_as_slow_nobody_is_elevated() {
    for seed in 0..20 {
        assert_eq!(which(&groups(seed, &[(1_000, 0.03); 10])), [false; 10], "{seed}");
    }
}

#[test]
fn traffic_alone_elevates_nobody() {
    for seed in 0..20 {
        let found = groups(seed, &[(18_000, 0.02), (500, 0.02), (500, 0.02), (500, 0.02), (500, 0.02)]);
        assert_eq!(which(&found), [false; 5], "{seed}");
    }
}

#[test]
fn one_with_nearly_all_traffic_can_be_elevated() {
    let found = groups(1, &[(18_000, 0.1), (500, 0.01), (500, 0.01), (500, 0.01), (500, 0.01)]);
    assert_eq!(which(&found), [true, false, false, false, false]);
    let found = groups(1, &[(18_000, 0.01), (500, 0.1), (500, 0.01), (500, 0.01), (500, 0.01)]);
    assert_eq!(which(&found), [false, true, false, false, false]);
}

#[test]
fn twice_as_slow_is_not_elevated() {
    let found = groups(1, &[(5_000, 0.02), (5_000, 0.04), (5_000, 0.02), (5_000, 0.02)]);
    assert_eq!(which(&found), [false; 4]);
}

#[test]
fn one_stroke_does_not_elevate() {
    // All hundred slow ones in one second: as many, and no evidence that it is so all the time.
    let mut members = Vec::new();
    for group in 0..4_u32 {
        for place in 0..6_000_u64 {
            let slow = group == 1 && (3_000..3_100).contains(&place) || place % 600 == 0;
            members.push(Member { group, start: ms(place * 10), slow: f64::from(u8::from(slow)) });
        }
    }
    assert_eq!(which(&compare(members.into_iter(), 4, seconds(60.0))), [false; 4]);
}

#[test]
fn what_is_explained_already_counts_for_nothing() {
    let members =
        (0..8_000_u32).map(|place| Member { group: place % 2, start: ms(u64::from(place)), slow: 0.0 });
    assert_eq!(which(&compare(members, 2, seconds(8.0))), [false; 2]);
}

#[test]
fn there_is_nobody_to_compare_one_with() {
    assert_eq!(which(&groups(1, &[(2_000, 0.5)])), [false]);
    assert!(compare(std::iter::empty(), 0, seconds(60.0)).is_empty());
}

/// Which of the classes `a` and `b` are found to be slow everywhere.
fn slow_classes(given: &Given) -> Vec<String> {
    let samples = given.samples();
    let hosts: Vec<u32> = (0..).take(samples.instances.len()).collect();
    let found = findings(&samples, &slow(&samples), &hosts, &mut random(1));
    let name = |class: usize| samples.classes.text(class, &given.names);
    (0..samples.classes.len()).filter(|class| found.classes[*class].is_elevated).map(name).collect()
}

#[test]
fn a_class_that_is_slow_at_one_instance_only_is_not_a_slow_class() {
    let given = |everywhere: bool| {
        let mut place = 0;
        let latency = |random: &mut Pcg64, _: f64, instance: usize| {
            place += 1;
            let struck = place % 10 == 1 && (everywhere || instance == 2);
            if struck && chance(random, 0.6) { 0.1 } else { 0.01 }
        };
        Given::poisson(3, 4, 500.0, 60.0, latency)
            .with_classes(|place, _| if place % 10 == 0 { "b" } else { "a" })
    };
    assert_eq!(slow_classes(&given(true)), ["b"]);
    assert!(slow_classes(&given(false)).is_empty());
}
