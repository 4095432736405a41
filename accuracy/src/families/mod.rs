//! Families of cases, one theme a file.
//!
//! In each, everything that is not the cause is drawn anew for every case: how many instances there are, how they are
//! chosen, how requests arrive, how long serving takes and how loaded the instances are.

mod caller;
mod change;
mod dependency;
mod executions;
mod fresh;
mod hedged;
mod hosts;
mod instance;
mod mixed;
mod network;
mod nothing;
mod parts;
mod pauses;
mod request;
mod saturated;
mod shared;
mod two;

use crate::case::{Family, Half};

/// All families.
pub(crate) fn all() -> Vec<Family> {
    [tuned(), fresh::all()].concat()
}

/// Those that were looked at.
fn tuned() -> Vec<Family> {
    [
        executions::FAMILIES,
        pauses::FAMILIES,
        hosts::FAMILIES,
        instance::FAMILIES,
        shared::FAMILIES,
        dependency::FAMILIES,
        saturated::FAMILIES,
        caller::FAMILIES,
        network::FAMILIES,
        request::FAMILIES,
        mixed::FAMILIES,
        change::FAMILIES,
        nothing::FAMILIES,
        hedged::FAMILIES,
        two::FAMILIES,
    ]
    .concat()
}

/// Those of one half, or all.
pub fn of(half: Option<Half>) -> Vec<Family> {
    all().into_iter().filter(|family| half.is_none_or(|half| family.half == half)).collect()
}

/// Some of every kind, of those that may be looked at: every change has to get them right, so it is made by looking at
/// them. Picked without knowing how they are judged: fifteen before anybody did, and of each kind with too few then the
/// first that was not among them.
const SOME: [&str; 24] = [
    "slow-executions",
    "exponential-in-bursts",
    "pauses-of-two-lengths",
    "one-overrun-instance",
    "one-has-most-traffic",
    "slow-jobs-at-the-same-time",
    "store-for-some-requests",
    "regular-surges-of-others",
    "regularly-late-reader",
    "long-ways-at-times",
    "spread-of-costs-unnamed",
    "slow-instance-and-executions",
    "no-tail",
    "hedged-executions",
    "two-of-which-one-is-slow",
    "slow-executions-unnamed",
    "hosts-pause",
    "one-slow-instance",
    "stalls",
    "full-all-the-time",
    "costly-class",
    "executions-and-stalls",
    "deployment-and-executions",
    "two-with-slow-executions",
];

/// Two dozen cases of tuning families of all kinds: always the same.
pub fn some() -> Vec<(Family, u64)> {
    of(Some(Half::Tuning))
        .into_iter()
        .filter(|family| SOME.contains(&family.name))
        .map(|family| (family, 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;

    #[test]
    fn every_family_has_a_name_of_its_own_and_something_right() {
        let families = all();
        assert!(families.len() >= 45, "{}", families.len());
        let mut names: Vec<_> = families.iter().map(|family| family.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), families.len());
        assert!(families.iter().all(|family| !family.causes.is_empty() && !family.actions.is_empty()));
    }

    #[test]
    fn whatever_is_drawn_can_be_simulated() {
        for family in all() {
            for seed in 0..200 {
                let traffic = (family.draw)(&mut Draw::new(family.name, seed)).unwrap();
                let checked = traffic.conditions.check(&traffic.system);
                assert!(checked.is_ok(), "{}:{seed}: {checked:?}", family.name);
            }
        }
    }

    #[test]
    fn some_are_two_dozen_and_none_is_held_out() {
        assert_eq!(some().len(), SOME.len());
    }

    #[test]
    fn many_families_are_held_out() {
        let held_out = of(Some(Half::HeldOut)).len();
        let all = all().len();
        assert!((3 * all..=6 * all).contains(&(10 * held_out)), "{held_out} of {all}");
    }
}
