//! Instances that pause together.

use super::*;
use crate::analysis::{
    clusters::{Clusters, clusters},
    coincidence::Mark,
};

const SPAN: f64 = 60.0;

/// Six instances, ten requests a second to each; those of one group pause together, twelve times for half a second.
fn marks(seed: u64, groups: [u32; 6]) -> Vec<Vec<Mark>> {
    let mut random = random(seed);
    let pauses: Vec<Vec<f64>> =
        (0..6).map(|_| (0..12).map(|_| random.random::<f64>() * SPAN).collect()).collect();
    let slow = |start: f64, group: u32| {
        pauses[group as usize].iter().any(|pause| (0.0..0.5).contains(&(start - pause)))
    };
    let of = |(instance, group): (usize, &u32)| {
        let start = |place: u32| f64::from(place) * 0.1 + instance as f64 * 0.013;
        (0..600)
            .map(|place| Mark { start: seconds(start(place)), slow: slow(start(place), *group) })
            .collect()
    };
    groups.iter().enumerate().map(of).collect()
}

fn found(groups: [u32; 6], hosts: [u32; 6]) -> Clusters {
    clusters(&marks(1, groups), &hosts, seconds(SPAN), ms(100))
}

const APART: [u32; 6] = [0, 1, 2, 3, 4, 5];

#[test]
fn instances_of_hosts_that_pause_are_grouped_by_host() {
    let found = found([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2]);
    assert_eq!(found.groups(), [[0, 1], [2, 3], [4, 5]]);
}

#[test]
fn those_that_pause_together_are_grouped_wherever_they_are() {
    assert_eq!(found([0, 1, 0, 1, 2, 2], APART).groups(), [[0, 2], [1, 3], [4, 5]]);
}

#[test]
fn hosts_that_explain_nothing_are_not_groups() {
    assert!(found(APART, [0, 0, 1, 1, 2, 2]).groups().is_empty());
}

#[test]
fn all_of_one_host_are_no_group_nor_all_that_pause_together() {
    assert!(found([0; 6], [0; 6]).groups().is_empty());
    assert!(found([0; 6], APART).groups().is_empty());
    assert!(found([0, 0, 0, 0, 1, 2], APART).groups().is_empty());
}

#[test]
fn two_instances_are_never_grouped() {
    let marks = marks(1, [0; 6]);
    assert!(clusters(&marks[..2], &[0, 0], seconds(SPAN), ms(100)).groups().is_empty());
}

#[test]
fn a_group_becomes_one_unit_in_the_order_of_time() {
    let marks = marks(1, [0, 0, 1, 1, 2, 3]);
    let merged = found([0, 0, 1, 1, 2, 3], APART).merge(&marks);
    assert_eq!(merged.len(), 4);
    assert_eq!(merged.iter().map(Vec::len).sum::<usize>(), 3_600);
    assert!(merged.iter().all(|marks| marks.is_sorted_by_key(|mark| mark.start)));
}

#[test]
fn a_hundred_thousand_instances_are_merged_at_once() {
    let count = 100_000;
    let clusters = Clusters { of: (0..count).collect() };
    let marks = vec![vec![Mark { start: ms(1), slow: false }]; count as usize];
    assert_eq!(clusters.merge(&marks).len(), count as usize);
    assert!(clusters.groups().is_empty());
}
