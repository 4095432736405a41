//! The held-out half: families that nobody looks at while the analysis is made.
//!
//! Where requests have no names, some cost more than others for all that can be seen, so `independent-or-request` can
//! be defended wherever `independent` is right.

mod caller;
mod change;
mod executions;
mod hedged;
mod hosts;
mod instance;
mod mixed;
mod network;
mod nothing;
mod pauses;
mod request;
mod saturated;
mod shared;
mod two;

use observer::analysis::model::{Action, Cause};

use crate::case::{Check, Family, Half, Hedging};

/// All of them.
pub(super) fn all() -> Vec<Family> {
    [
        executions::FAMILIES,
        pauses::FAMILIES,
        hosts::FAMILIES,
        instance::FAMILIES,
        shared::FAMILIES,
        saturated::FAMILIES,
        caller::FAMILIES,
        network::FAMILIES,
        request::FAMILIES,
        mixed::FAMILIES,
        change::FAMILIES,
        nothing::FAMILIES,
        two::FAMILIES,
        hedged::FAMILIES,
    ]
    .concat()
}

/// What helps is a second copy.
const INDEPENDENT: Family = Family { half: Half::HeldOut, ..Family::PATTERN };

/// The same where most cases have names and some have not.
const PAUSES: Family = Family {
    causes: &[Cause::Independent, Cause::IndependentOrRequest],
    check: Check::TailByFault,
    ..INDEPENDENT
};

/// What a second copy makes worse, or does not help.
const SHARED: Family = Family {
    causes: &[Cause::Shared],
    actions: &[Action::DoNotHedge],
    hedging: Hedging::Forbidden,
    check: Check::TailByFault,
    ..INDEPENDENT
};
