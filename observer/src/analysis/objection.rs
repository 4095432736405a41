//! What speaks against second copies, in one place.
//!
//! The first that applies counts. Whether they are worth it is only asked where nothing else speaks against them.

use super::{
    advice::Found,
    budget::budget,
    composition::Explanation,
    model::{Cause, Objection},
    policy::Expectation,
    verdict::STROKES,
};

/// Where more of the slow requests than this are slow together, no copies are sent.
const TOGETHER: f64 = 0.3;

/// The target must fall by this share to be worth it.
const WORTH: f64 = 0.08;

/// By this share it may rise, at worst: without a slow moment among the blocks drawn, nothing falls.
const LOSS: f64 = 0.05;

/// Whether an objection applies.
type Test = fn(&Found<'_>) -> bool;

/// What speaks against any second copies.
pub(super) fn objection(found: &Found<'_>) -> Option<Objection> {
    let tests: [(Objection, Test); 7] = [
        (Objection::Cause, forbids),
        (Objection::OneInstance, |found| found.samples.instances.len() < 2 || are_served_once(found)),
        (Objection::Writes, |found| found.repeatable.share() == 0.0),
        (Objection::Together, are_together),
        (Objection::Seldom, is_seldom),
        (Objection::NoBudget, |found| {
            found.question.budget.is_some_and(|budget| budget.as_fraction() <= 0.0)
        }),
        (Objection::NoRoom, |found| budget(found) <= 0.0),
    ];
    tests.into_iter().find(|(_, applies)| applies(found)).map(|(objection, _)| objection)
}

/// What speaks against the best second copies that there are.
///
/// `copies_would_win` says how often copies in the traffic would answer first by chance.
pub(super) fn objection_to(
    found: &Found<'_>,
    expected: &Expectation,
    copies_would_win: Option<f64>,
) -> Option<Objection> {
    if lose(found, copies_would_win) {
        return Some(Objection::CopiesLose);
    }
    (expected.gain < WORTH || expected.gain_ci[0] < -LOSS).then_some(Objection::NotWorthIt)
}

/// Copies in the traffic tell how often they win if there are so many of them, and contradict what is expected if they win
/// this much less often.
const COPIES: usize = 20;
const SELDOM: f64 = 0.4;

fn lose(found: &Found<'_>, would_win: Option<f64>) -> bool {
    let wins = found.copies.and_then(|copies| copies.hedging.wins);
    found.samples.copies.len() >= COPIES
        && wins.zip(would_win).is_some_and(|(wins, would_win)| wins < SELDOM * would_win)
}

/// Whether most slow requests ask for what no other instance was asked for.
fn are_served_once(found: &Found<'_>) -> bool {
    let slow = found.slow.rows().count();
    let once = found.slow.rows().filter(|row| !found.samples.is_served_elsewhere(*row)).count();
    once * 2 > slow
}

fn forbids(found: &Found<'_>) -> bool {
    !matches!(found.judgement.cause, Cause::Independent | Cause::IndependentOrRequest | Cause::Mixed)
}

fn are_together(found: &Found<'_>) -> bool {
    let shares = &found.judgement.shares;
    shares[Explanation::Shared as usize] + shares[Explanation::Saturated as usize] > TOGETHER
}

fn is_seldom(found: &Found<'_>) -> bool {
    found.judgement.strokes < STROKES
}
