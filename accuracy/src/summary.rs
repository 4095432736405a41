//! Many scores in a few figures.

use std::collections::BTreeMap;

use observer::analysis::model::{Action, Cause};

use crate::score::{GAIN, Harm, Named, Score};

/// Many scores in a few figures.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many cases there are.
    pub cases: usize,
    /// How the cause was named: right, defensible, wrong, not at all.
    pub named: [usize; 4],
    /// Cases in which the advice is right or can be defended.
    pub advice_right: usize,
    /// What was advised.
    pub advice: Harms,
    /// What libraries do by themselves.
    pub library: Harms,
    /// Cases in which the best policy takes a fifth or more off the p99, whatever the cause.
    pub gains: usize,
    /// Those of them in which nothing speaks against it.
    pub rightful_gains: usize,
    /// How much worse than the best policy what was advised is.
    pub regret: Spread,
    /// By how much the expected p99 is off, in each new run of each case.
    pub error: Spread,
    /// The share of the new runs whose p99 is inside the expected interval.
    pub coverage: Option<f64>,
    /// By how much the expected extra load is off in each of these runs, in parts of the requests.
    pub error_of_load: Spread,
    /// How long an assessment took, in seconds.
    pub took: Spread,
    /// How often each cause was named where each is right.
    pub confusion: BTreeMap<(Cause, Cause), usize>,
    /// How often each action was advised.
    pub actions: BTreeMap<Action, usize>,
}

/// How often a way to advise does what it should not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Harms {
    /// Copies where the cause forbids them, or the p99 becomes worse.
    pub harm: usize,
    /// The p99 becomes worse.
    pub measured: usize,
    /// Gains that were not seen.
    pub missed: usize,
    /// Gains of a fifth or more that are made.
    pub made: usize,
}

impl Harms {
    fn count(&mut self, harm: Harm, is_missed: bool, makes: bool) {
        self.harm += usize::from(harm != Harm::None);
        self.measured += usize::from(harm == Harm::Measured);
        self.missed += usize::from(is_missed);
        self.made += usize::from(makes);
    }
}

/// The middle of some values, and below what nine in ten of them lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The middle.
    pub median: Option<f64>,
    /// Nine in ten are not higher.
    pub p90: Option<f64>,
}

impl Spread {
    /// Of some values; nothing where there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<_> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |hundredths: usize| {
            let rank = (sorted.len() * hundredths).div_ceil(100).saturating_sub(1);
            sorted.get(rank).copied()
        };
        Self { median: at(50), p90: at(90) }
    }
}

impl Summary {
    /// Of these scores.
    pub fn of(scores: &[&Score]) -> Self {
        let all = || scores.iter().copied();
        let mut summary = Self::default();
        for score in all() {
            summary.count(score);
        }
        let predictions: Vec<_> = all().flat_map(Score::predictions).collect();
        let inside = predictions.iter().filter(|(_, inside)| *inside).count();
        Self {
            regret: Spread::of(all().filter_map(Score::regret)),
            coverage: (!predictions.is_empty()).then(|| inside as f64 / predictions.len() as f64),
            error: Spread::of(predictions.into_iter().map(|(error, _)| error)),
            error_of_load: Spread::of(all().flat_map(Score::errors_of_load)),
            took: Spread::of(all().map(|score| score.took_s)),
            ..summary
        }
    }

    fn count(&mut self, score: &Score) {
        self.cases += 1;
        self.named[score.named() as usize] += 1;
        self.advice_right += usize::from(score.is_advice_right());
        let takes = |ratio: f64| ratio <= 1.0 - GAIN;
        let made =
            score.applied.is_some_and(|applied| takes(applied.ratio)) && score.action() == Action::Hedge;
        self.advice.count(score.harm(), score.is_missed(), made);
        let rightful = score.has_gain();
        self.library.count(score.harm_of_library(), false, takes(score.truth.library.ratio));
        self.gains += usize::from(score.truth.gain() >= GAIN);
        self.rightful_gains += usize::from(rightful);
        *self.actions.entry(score.action()).or_default() += 1;
        if let Some(cause) = score.case.family.causes.first() {
            *self.confusion.entry((*cause, score.cause())).or_default() += 1;
        }
    }

    /// How many cases a kind of naming has.
    pub const fn named(&self, named: Named) -> usize {
        self.named[named as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_in_ten_values_are_not_higher() {
        let spread = Spread::of((1..=10).map(f64::from));
        assert_eq!(spread, Spread { median: Some(5.0), p90: Some(9.0) });
        assert_eq!(Spread::of([]), Spread::default());
    }
}
