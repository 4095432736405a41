//! What was said about a case, beside what is true of it.

use std::time::Instant;

use anyhow::Result;
use observer::{
    analysis::{
        Context, Question, assess,
        model::{Action, Assessment, Cause, Expected},
    },
    exchange::Names,
    ledger::Row,
};

use crate::{
    cache::Cache,
    case::{Case, Hedging},
    grid::Copying,
    recording::Recording,
    truth::{Applied, TARGET, Truth},
};

/// What a canary may send: copies ÷ requests.
const CANARY: f64 = 0.01;

/// From so much off the p99 on, not to advise copies is to miss something.
pub(crate) const GAIN: f64 = 0.2;

/// From so much more p99 on, advice does harm.
pub(crate) const HARM: f64 = 0.05;

/// Whether the cause that was named is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// It is the best one.
    Right,
    /// It can be defended.
    Defensible,
    /// It is not.
    Wrong,
    /// None was named, though the evidence is there.
    Abstained,
}

/// Whether copies were advised that should not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// No.
    None,
    /// The cause forbids them.
    Forbidden,
    /// The p99 became worse.
    Measured,
}

/// One case, judged.
#[derive(Clone, Debug)]
pub struct Score {
    /// The case; its recording is gone.
    pub case: Case,
    /// What is true of it.
    pub truth: Truth,
    /// What was said about it.
    pub assessment: Assessment,
    /// How many exchanges that rests on.
    pub exchanges: usize,
    /// The recorded p99 ÷ the median.
    pub spread: f64,
    /// How long it took, in seconds.
    pub took_s: f64,
    /// What the advised copies did, where any were advised.
    pub applied: Option<Applied>,
}

/// The assessment of rows of one service.
pub(crate) fn assess_rows(rows: &[Row], names: &Names, question: &Question) -> Assessment {
    let context = Context { protocol: None, virtual_address: false, seen: 1.0 };
    assess(rows, names, &context, question)
}

/// The assessment of a recording, and how many seconds it took.
pub(crate) fn judge(recording: &Recording, question: &Question) -> (Assessment, f64) {
    let rows = recording.rows();
    let begun = Instant::now();
    let assessment = assess_rows(&rows, &recording.names, question);
    (assessment, begun.elapsed().as_secs_f64())
}

impl Score {
    /// Draws, records and assesses a case, and applies what was advised.
    pub fn of(family: crate::case::Family, seed: u64, cache: &Cache) -> Result<Self> {
        let case = Case::draw(family, seed)?;
        let recording = Recording::of(&case);
        let (assessment, took_s) = judge(&recording, &Question::default());
        let exchanges = recording.exchanges.len();
        let latency = recording.outcome.latency();
        let spread = latency.quantile(TARGET).0 as f64 / latency.quantile(0.5).0.max(1) as f64;
        drop(recording);
        let truth = cache.truth(&case);
        let advice = &assessment.recommendation;
        let copying = match advice.action {
            Action::Hedge => Copying::advised(advice, crate::grid::BUDGET),
            Action::Canary => Copying::advised(advice, CANARY),
            _ => None,
        };
        let applied = copying.map(|copying| truth.applied(&case, &copying));
        Ok(Self { case, truth, assessment, exchanges, spread, took_s, applied })
    }

    /// The cause that was named.
    pub const fn cause(&self) -> Cause {
        self.assessment.verdict.cause
    }

    /// What was advised.
    pub const fn action(&self) -> Action {
        self.assessment.recommendation.action
    }

    /// Whether the cause that was named is right.
    pub fn named(&self) -> Named {
        match self.case.family.causes.iter().position(|cause| *cause == self.cause()) {
            Some(0) => Named::Right,
            Some(_) => Named::Defensible,
            None if self.cause() == Cause::Insufficient => Named::Abstained,
            None => Named::Wrong,
        }
    }

    /// Whether what was advised is right, or can be defended. Copies that could not be known to be a remedy and are
    /// one can be.
    pub fn is_advice_right(&self) -> bool {
        let is_proven = self.action() == Action::Hedge
            && self.case.family.hedging != Hedging::Forbidden
            && self.applied.is_some_and(|applied| applied.ratio <= 1.0 - GAIN / 2.0);
        self.case.family.actions.contains(&self.action()) || is_proven
    }

    /// Whether copies were advised that should not be. A canary is there to find out, so only what it does counts.
    pub fn harm(&self) -> Harm {
        let is_worse = self.applied.is_some_and(|applied| applied.ratio > 1.0 + HARM);
        match self.action() {
            Action::Hedge if self.case.family.hedging == Hedging::Forbidden => Harm::Forbidden,
            Action::Hedge | Action::Canary if is_worse => Harm::Measured,
            _ => Harm::None,
        }
    }

    /// The same of what libraries do, whatever the case.
    pub fn harm_of_library(&self) -> Harm {
        if self.truth.library.ratio > 1.0 + HARM {
            Harm::Measured
        } else if self.case.family.hedging == Hedging::Forbidden {
            Harm::Forbidden
        } else {
            Harm::None
        }
    }

    /// Whether there is a gain that nothing speaks against.
    pub fn has_gain(&self) -> bool {
        self.case.family.hedging == Hedging::Remedy && self.truth.gain() >= GAIN
    }

    /// Whether there is one and it was not seen.
    pub fn is_missed(&self) -> bool {
        let ejected = self.action() == Action::Eject && self.case.family.actions.contains(&Action::Eject);
        self.has_gain() && !matches!(self.action(), Action::Hedge | Action::Canary) && !ejected
    }

    /// By how much the advised policy is worse than the best one.
    pub fn regret(&self) -> Option<f64> {
        let applied = self.applied.filter(|_| self.action() == Action::Hedge)?;
        Some(applied.ratio / self.truth.best.ratio - 1.0)
    }

    /// What was expected of the advised policy, beside what it did.
    fn expected(&self) -> Option<(&Expected, Applied)> {
        let applied = self.applied.filter(|_| self.action() == Action::Hedge)?;
        Some((self.assessment.recommendation.expected.as_ref()?, applied))
    }

    /// The expected p99 beside that of each run, which its interval is for: by how much it is off, and whether that run
    /// is inside. The middle one of several runs would be inside more often than one is.
    pub fn predictions(&self) -> Vec<(f64, bool)> {
        let Some((expected, applied)) = self.expected() else { return Vec::new() };
        let (Some(p99_s), Some([low, high])) = (expected.after.p99, expected.after_ci.p99) else {
            return Vec::new();
        };
        let of_run = |run_s: f64| ((p99_s - run_s).abs() / run_s.max(1e-9), (low..=high).contains(&run_s));
        applied.p99_s.map(of_run).into()
    }

    /// By how much the expected extra load is off in each run, in parts of the requests.
    pub fn errors_of_load(&self) -> Vec<f64> {
        let Some((expected, applied)) = self.expected() else { return Vec::new() };
        applied.extra.map(|extra| (expected.extra_load - extra).abs()).into()
    }
}
