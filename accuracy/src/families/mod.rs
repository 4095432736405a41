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

/// Every sixth family or so, picked before anybody knew how it is judged.
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
    "executions-on-uneven-instances",
    "few-hosts-of-four-to-eight",
    "hung-and-avoided",
    "two-brown-outs",
    "bursts-at-high-load",
    "up-to-four-costly-classes",
    "executions-and-pauses",
    "gradual-deployment-and-executions",
    "two-of-which-one-pauses",
];

/// Two dozen cases of families of all kinds: always the same.
pub fn some() -> Vec<(Family, u64)> {
    all().into_iter().filter(|family| SOME.contains(&family.name)).map(|family| (family, 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn some_are_two_dozen() {
        assert_eq!(some().len(), SOME.len());
    }

    #[test]
    fn many_families_are_held_out() {
        let held_out = of(Some(Half::HeldOut)).len();
        let all = all().len();
        assert!((3 * all..=6 * all).contains(&(10 * held_out)), "{held_out} of {all}");
    }
}
