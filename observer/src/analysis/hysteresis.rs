//! Keeps successive assessments of one service from flickering.
//!
//! Whoever acts on an advice wants it to stand for a while. A new cause or action must be found twice before it is
//! shown. The one exception is safety: where second copies were advised and are now forbidden, that counts at once.

use super::model::{Action, Assessment, Cause};

/// A delay or budget that moved by less than this share has not moved.
const NOTABLE: f64 = 0.2;

/// The assessment that is shown of one service.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    shown: Option<Assessment>,
    /// What was found the last time, where that is not what is shown.
    found: Option<(Cause, Action)>,
}

impl Settled {
    /// Takes in what was found now, and gives what is to be shown.
    pub fn settle(&mut self, now: Assessment) -> Assessment {
        let found = (now.verdict.cause, now.recommendation.action);
        let next = match self.shown.take() {
            None => now,
            Some(shown) => {
                let before = (shown.verdict.cause, shown.recommendation.action);
                if found == before {
                    steady(&shown, now)
                } else if self.found == Some(found) || forbids(&shown, &now) {
                    now
                } else {
                    self.found = Some(found);
                    self.shown = Some(shown.clone());
                    return shown;
                }
            }
        };
        self.found = None;
        self.shown = Some(next.clone());
        next
    }
}

/// Whether second copies were advised before, and now would do harm.
fn forbids(before: &Assessment, now: &Assessment) -> bool {
    let advised =
        |assessment: &Assessment| matches!(assessment.recommendation.action, Action::Hedge | Action::Canary);
    let harmful = now.recommendation.action == Action::DoNotHedge || now.verdict.hedging_helps == Some(false);
    advised(before) && !advised(now) && harmful
}

/// What was found now; with the policy that was shown before, and what was expected of it, if that is nearly the same and
/// as careful: no sooner and no more copies than would be advised now.
fn steady(before: &Assessment, mut now: Assessment) -> Assessment {
    let (old, new) = (&before.recommendation, &now.recommendation);
    let is_kept = |old: Option<f64>, new: Option<f64>, is_careful: fn(f64, f64) -> bool| {
        let (Some(old), Some(new)) = (old, new) else { return false };
        (new - old).abs() < NOTABLE * old.abs() && is_careful(old, new)
    };
    if is_kept(old.delay_s, new.delay_s, |old, new| old >= new)
        && is_kept(old.budget_fraction, new.budget_fraction, |old, new| old <= new)
    {
        now.recommendation = old.clone();
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Question;

    fn found(cause: Cause, action: Action, delay: f64) -> Assessment {
        let mut assessment = Assessment::insufficient(1_000, String::new(), &Question::default());
        assessment.verdict.cause = cause;
        assessment.recommendation.action = action;
        if matches!(action, Action::Hedge | Action::Canary) {
            assessment.recommendation.delay_s = Some(delay);
            assessment.recommendation.budget_fraction = Some(delay / 10.0);
        }
        assessment
    }

    /// What is shown after each of these was found.
    fn shown(found: impl IntoIterator<Item = Assessment>) -> Vec<(Cause, Action, Option<f64>)> {
        let mut settled = Settled::default();
        let shown = found.into_iter().map(|found| settled.settle(found));
        shown
            .map(|shown| (shown.verdict.cause, shown.recommendation.action, shown.recommendation.delay_s))
            .collect()
    }

    #[test]
    fn the_first_counts_at_once() {
        let first = found(Cause::Independent, Action::Hedge, 0.1);
        assert_eq!(shown([first]), [(Cause::Independent, Action::Hedge, Some(0.1))]);
    }

    #[test]
    fn a_change_is_shown_when_it_is_found_twice() {
        let wait = || found(Cause::Insufficient, Action::Wait, 0.0);
        let hedge = || found(Cause::Independent, Action::Hedge, 0.1);
        let actions: Vec<_> = shown([wait(), hedge(), hedge(), wait(), hedge(), wait(), wait()])
            .iter()
            .map(|shown| shown.1)
            .collect();
        assert_eq!(
            actions,
            [
                Action::Wait,
                Action::Wait,
                Action::Hedge,
                Action::Hedge,
                Action::Hedge,
                Action::Hedge,
                Action::Wait
            ]
        );
    }

    #[test]
    fn two_different_changes_do_not_agree() {
        let actions: Vec<_> = shown([
            found(Cause::NoTail, Action::None, 0.0),
            found(Cause::Independent, Action::Hedge, 0.1),
            found(Cause::IndependentOrRequest, Action::Canary, 0.1),
            found(Cause::Independent, Action::Hedge, 0.1),
            found(Cause::Independent, Action::Hedge, 0.1),
        ])
        .iter()
        .map(|shown| shown.1)
        .collect();
        assert_eq!(actions, [Action::None, Action::None, Action::None, Action::None, Action::Hedge]);
    }

    #[test]
    fn what_forbids_second_copies_counts_at_once() {
        for advised in [Action::Hedge, Action::Canary] {
            let after = shown([
                found(Cause::Independent, advised, 0.1),
                found(Cause::Saturated, Action::DoNotHedge, 0.0),
            ]);
            assert_eq!(after[1], (Cause::Saturated, Action::DoNotHedge, None));
        }
        let mut eject = found(Cause::Instance, Action::Eject, 0.0);
        eject.verdict.hedging_helps = Some(false);
        let after = shown([found(Cause::Independent, Action::Hedge, 0.1), eject]);
        assert_eq!(after[1].1, Action::Eject);
    }

    #[test]
    fn what_allows_them_again_does_not() {
        let after = shown([
            found(Cause::Shared, Action::DoNotHedge, 0.0),
            found(Cause::Independent, Action::Hedge, 0.1),
        ]);
        assert_eq!(after[1].1, Action::DoNotHedge);
    }

    #[test]
    fn a_policy_that_is_as_careful_stays_until_it_moves_by_a_fifth() {
        let mut settled = Settled::default();
        for (delay, budget, expected) in [
            (0.100, 0.05, (0.100, 0.05)),
            (0.095, 0.05, (0.100, 0.05)),
            // A later copy is more careful, and so is a smaller budget: they count at once.
            (0.104, 0.05, (0.104, 0.05)),
            (0.104, 0.045, (0.104, 0.045)),
            (0.100, 0.05, (0.104, 0.045)),
            (0.080, 0.05, (0.080, 0.05)),
        ] {
            let mut now = found(Cause::Independent, Action::Hedge, delay);
            now.recommendation.budget_fraction = Some(budget);
            let shown = settled.settle(now).recommendation;
            assert_eq!(
                (shown.delay_s.unwrap(), shown.budget_fraction.unwrap()),
                expected,
                "{delay} {budget}"
            );
        }
    }

    #[test]
    fn everything_else_is_always_what_was_found_now() {
        let mut settled = Settled::default();
        settled.settle(found(Cause::Independent, Action::Hedge, 0.1));
        let mut now = found(Cause::Independent, Action::Hedge, 0.1);
        now.verdict.slow = 77;
        assert_eq!(settled.settle(now).verdict.slow, 77);
    }
}
