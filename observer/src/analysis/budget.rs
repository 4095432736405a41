//! How many second copies there may be.

use super::advice::Found;
use crate::quantity::Share;

/// Second copies ÷ requests at most where the utilisation of the instances is not known.
const CAUTIOUS: f64 = 0.05;

/// At most where it is known.
const MOST: f64 = 0.10;

/// Up to here instances may be used, second copies included.
pub(super) const ROOM: f64 = 0.8;

/// Second copies ÷ requests at most: what somebody decided, or else a twentieth, or a tenth where somebody knows how busy
/// the instances are; and never more than leaves them room, as far as that is known or seen:  ρ (1 + h) ≤ 0.8.
///
/// What is seen is a lower bound, since a client sees only its own load: it can take room away and give none.
///
/// Where a request waits for several of these, the budget is one of such requests: one second copy in w of them.
pub(super) fn budget(found: &Found<'_>) -> f64 {
    per_request(found) / f64::from(found.question.fan_out.get())
}

/// The same for requests that wait for several of these.
pub(super) fn per_request(found: &Found<'_>) -> f64 {
    let known = found.question.utilisation.map(Share::as_fraction);
    let seen = found.findings.load.utilisation_where(&found.findings.bursts);
    let room = |utilisation: f64| (ROOM / utilisation.max(1e-9) - 1.0).max(0.0);
    let decided = found.question.budget.map(Share::as_fraction);
    let decided = decided.unwrap_or(if known.is_some() { MOST } else { CAUTIOUS });
    known.into_iter().chain(seen).map(room).fold(decided, f64::min)
}
