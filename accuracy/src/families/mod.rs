//! Families of cases, one theme a file.
//!
//! In each, everything that is not the cause is drawn anew for every case: how many instances there are, how they are
//! chosen, how requests arrive, how long serving takes and how loaded the instances are.

mod caller;
mod change;
mod dependency;
mod executions;
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
