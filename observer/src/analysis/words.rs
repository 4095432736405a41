//! What an assessment says in words.

use super::{
    model::{Action, Cause, Recommendation, Verdict},
    samples::Samples,
    slow::Slow,
    verdict::{Judgement, Missing},
};

/// Whether a second copy would be faster.
pub(super) fn helps(judgement: &Judgement, recommendation: &Recommendation) -> Option<bool> {
    match (judgement.cause, recommendation.action) {
        (Cause::Insufficient, _) => None,
        (Cause::IndependentOrRequest, _) => None,
        (_, Action::Hedge | Action::Canary) => Some(true),
        (Cause::Instance, _) => None,
        _ => Some(false),
    }
}

/// What is missing, and how long that takes at this rate.
pub(super) fn missing(judgement: &Judgement, samples: &Samples) -> Option<String> {
    let missing = judgement.missing?;
    let wait = |have: usize, need: usize| {
        let span = samples.span.as_seconds();
        if have == 0 || span <= 0.0 {
            return String::new();
        }
        let seconds = span * (need - have) as f64 / have as f64;
        if seconds < 90.0 {
            format!(", about {:.0} s at this rate", seconds.max(1.0))
        } else {
            format!(", about {:.0} minutes at this rate", seconds / 60.0)
        }
    };
    Some(match missing {
        Missing::Requests { have, need } => format!("{} more requests{}", need - have, wait(have, need)),
        Missing::Slow { have, need } => format!("{} more slow requests{}", need - have, wait(have, need)),
        Missing::Strokes { have, need } => {
            format!("{} more separate strokes of slowness{}", need - have, wait(have, need))
        }
        Missing::Instances => "a second instance: there is none that a copy could go to".to_owned(),
    })
}

/// The verdict in one sentence.
pub(super) fn summary(verdict: &Verdict, recommendation: &Recommendation, slow: &Slow) -> String {
    let _ = (recommendation, slow);
    match verdict.cause {
        Cause::Independent => "slowness strikes single requests or short pauses of single instances: another instance would have answered".into(),
        Cause::IndependentOrRequest => "slowness looks like chance, but nothing tells costly requests from others".into(),
        Cause::Instance => format!("slow as a whole: {}", verdict.elevated.join(", ")),
        Cause::Shared => "instances are slow at the same times: something that they share is slow".into(),
        Cause::Saturated => "instances are full: requests wait for each other".into(),
        Cause::Caller => "answers are there and the client process reads them late".into(),
        Cause::Network => "lost segments or long round trips explain it".into(),
        Cause::Request => format!("the same requests are slow everywhere: {}", verdict.slow_classes.join(", ")),
        Cause::Mixed => "no single cause explains half of the slow requests".into(),
        Cause::NoTail => "the tail is close to the median: nothing to fix".into(),
        Cause::Insufficient => "too little was seen to tell".into(),
    }
}
