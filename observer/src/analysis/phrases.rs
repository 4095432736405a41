//! What an assessment says in words.

use super::{
    advice::{Found, is_delicate, may_be_shared},
    budget::ROOM,
    model::{Action, Cause, Episodes, Objection, Recommendation, Verdict},
    policy::Expectation,
    samples::Samples,
    verdict::{Judgement, Missing},
};
use crate::quantity::Share;

/// Whether a second copy would be faster, where that is known.
pub(super) const fn helps(cause: Cause, advice: &Recommendation) -> Option<bool> {
    match (cause, advice.action, advice.objection) {
        (.., Some(Objection::CopiesLose)) => Some(false),
        (Cause::Insufficient | Cause::IndependentOrRequest | Cause::Instance, ..) => None,
        (_, Action::Hedge | Action::Canary, _) => Some(true),
        (Cause::NoTail, ..) | (_, _, Some(Objection::Cause | Objection::NotWorthIt)) => Some(false),
        _ => None,
    }
}

/// What is missing, and how long that takes at this rate.
pub(super) fn missing(judgement: &Judgement, samples: &Samples) -> Option<String> {
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
    Some(match judgement.missing? {
        Missing::Requests { have, need } => format!("{} more requests{}", need - have, wait(have, need)),
        Missing::Slow { have, need } => format!("{} more slow requests{}", need - have, wait(have, need)),
        Missing::Strokes { have, need } => {
            format!("{} more separate strokes of slowness{}", need - have, wait(have, need))
        }
        Missing::Answers => {
            "answers: not even half of the requests have one, or all of them are failures".to_owned()
        }
        Missing::Instances => "a second instance: there is none that a copy could go to".to_owned(),
        Missing::Sight => {
            "the instances behind the virtual address: observe where addresses are translated, or on the host that \
             translates them"
                .to_owned()
        }
    })
}

/// The verdict in one sentence.
pub(super) fn summary(verdict: &Verdict) -> String {
    match verdict.cause {
        Cause::Independent => {
            "slowness strikes single requests or instances for a moment, unrelated to the others".into()
        }
        Cause::IndependentOrRequest => {
            "slowness looks like chance, but nothing tells costly requests from others".into()
        }
        Cause::Instance if verdict.elevated.len() == 1 => "one instance is slow as a whole".into(),
        Cause::Instance => format!("{} instances are slow as a whole", verdict.elevated.len()),
        Cause::Shared => "instances are slow at the same times: something that they share is slow".into(),
        Cause::Saturated => "instances are full: requests wait for each other".into(),
        Cause::Caller => "answers were there, and the client process read them late".into(),
        Cause::Network => "lost segments or long round trips explain it".into(),
        Cause::Request => "the same requests are slow at every instance".into(),
        Cause::Mixed => "no single cause explains half of the slow requests".into(),
        Cause::NoTail => "the tail is close to the median: there is nothing to fix".into(),
        Cause::Insufficient => "too little was seen to tell".into(),
    }
}

/// Adds conditions, warnings, and what to do instead or besides.
pub(super) fn complete(advice: &mut Recommendation, found: &Found<'_>) {
    if matches!(advice.action, Action::Hedge | Action::Canary) {
        advice.conditions.extend(conditions(found));
        advice.warnings = warnings(advice, found);
    }
    if advice.action == Action::Eject {
        advice.conditions.extend(room_without(found));
    }
    advice.instead = instead(found.judgement.cause, advice.objection, found.judgement.missing);
    if found.judgement.cause == Cause::NoTail && !found.samples.sees_reads {
        advice.instead.push(
            "if callers wait longer than this, look at them: when they read answers is not seen here"
                .to_owned(),
        );
    }
}

/// What the others must carry if the instances that are slow as a whole are taken out, and whether they seem to be able to.
fn room_without(found: &Found<'_>) -> Option<String> {
    let instances = &found.findings.instances;
    let all: f64 = instances.iter().map(|instance| instance.requests).sum();
    let slow: f64 =
        instances.iter().filter(|instance| instance.is_elevated).map(|instance| instance.requests).sum();
    let more = slow / (all - slow).max(1.0);
    let known = found.question.utilisation.map(Share::as_fraction);
    let then = known.or(found.findings.load.utilisation()).map(|utilisation| utilisation * (1.0 + more));
    (slow > 0.0 && all > slow).then(|| {
        let text = format!("the others can carry {} more each", percent(more));
        match then.filter(|then| *then > ROOM) {
            Some(then) => format!(
                "{text}: they would use {} of what they can, so send less there rather than nothing",
                percent(then)
            ),
            None => text,
        }
    })
}

/// What a canary is for, and what comes after it.
pub(super) fn after_canary(found: &Found<'_>, all: &Expectation) -> String {
    let budget = percent(all.choice.trial.budget);
    let wins = all.choice.effect.wins * 100.0;
    if found.judgement.is_chance_told && is_delicate(found) {
        format!("the other instance does not slow down; then raise the budget to {budget}")
    } else if found.judgement.is_chance_told && may_be_shared(found) {
        format!(
            "about {wins:.0} % of the copies answer first; then raise the budget to {budget}. If far fewer do, something is \
             shared: stop"
        )
    } else {
        format!(
            "about {wins:.0} % of the copies answer first; then raise the budget to {budget}. If far fewer do, the requests \
             themselves are costly: stop"
        )
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        percent if percent > 0.0 && percent < 0.1 => "less than 0.1 %".to_owned(),
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

fn conditions(found: &Found<'_>) -> Vec<String> {
    let mut conditions = Vec::new();
    if found.repeatable.is_unknown() {
        conditions.push(
            "requests may be sent twice, which the names of some do not tell (--idempotent yes)".to_owned(),
        );
    }
    if found.repeatable.share() < 1.0 {
        conditions.push(format!(
            "only what may be sent twice is: {} of the requests write and are excluded",
            percent(1.0 - found.repeatable.share())
        ));
    }
    if found.repeatable.has_idempotent_writes() {
        conditions.push(
            "a late copy of a write that can be repeated (PUT, DELETE, SET) undoes nothing that somebody else wrote since"
                .to_owned(),
        );
    }
    conditions.push(
        "a copy goes to another instance that can answer it, the slower one is cancelled, and nobody above or below \
         hedges too"
            .to_owned(),
    );
    if found.question.utilisation.is_none() {
        conditions.push(
            "the instances have room for it: a client sees only its own load (--utilization); begin with 1 % and look at \
             their load before more"
                .to_owned(),
        );
    }
    conditions
}

/// A quantile that falls by less than this share does not fall.
const FALLS: f64 = 0.01;

fn warnings(advice: &Recommendation, found: &Found<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    if found.context.seen < SEEN {
        warnings.push(format!(
            "only {} of the requests were seen: instances are busier than it looks",
            percent(found.context.seen)
        ));
    }
    if let Some(expected) = advice.expected.as_ref().filter(|_| advice.action == Action::Hedge) {
        warnings.push(format!(
            "about {:.0} % of the copies should answer first; if far fewer do, the slow requests are costly by themselves, \
             or share something: stop",
            expected.wins * 100.0
        ));
    }
    warnings.push("enforce the budget; if it is used up all the time, stop: the instances queue".to_owned());
    if let Some(expected) = advice.expected.as_ref().filter(|expected| expected.decisive.quantile < 0.999)
        && let (Some(before), Some(after)) = (expected.before.p999, expected.after.p999)
        && after > (1.0 - FALLS) * before
    {
        warnings.push("p99.9 is not expected to fall".to_owned());
    }
    if found.context.protocol == Some("grpc") {
        warnings
            .push("servers of gRPC may close a connection on which many streams are cancelled".to_owned());
    }
    if found.samples.instances.len() == 2 {
        warnings.push("with two instances a copy always meets the other's queue".to_owned());
    }
    if !found.findings.clusters.groups().is_empty() {
        warnings.push("some instances pause together: let a copy go to another host".to_owned());
    }
    warnings
}

/// From this share of the requests on, what was seen is taken for all.
const SEEN: f64 = 0.98;

fn instead(cause: Cause, objection: Option<Objection>, missing: Option<Missing>) -> Vec<String> {
    let lines: &[&str] = match (cause, objection) {
        (_, Some(Objection::Writes)) => &["set a deadline: requests that write must not be sent twice"],
        (_, Some(Objection::NoRoom)) => &["add capacity first: the instances have no room for copies"],
        (_, Some(Objection::NotWorthIt)) => &["look at what the slow requests have in common"],
        (_, Some(Objection::Together)) => &["find what makes instances slow together first"],
        (_, Some(Objection::OneInstance)) => &["add a second instance"],
        (_, Some(Objection::Seldom)) => &["observe longer"],
        (_, Some(Objection::CopiesLose)) => {
            &["stop sending copies, and look at what the slow requests have in common"]
        }
        (_, Some(Objection::NoBudget)) => &[],
        (Cause::Insufficient, _) if missing.is_some_and(Missing::takes_time) => &["observe longer"],
        (Cause::Insufficient, _) if missing == Some(Missing::Instances) => &[
            "if other addresses here are instances of the same service, name them together (--config, [[service]])",
        ],
        (Cause::Instance, _) => &[
            "look at what is wrong with it: its host, its disk, its load; balance by requests in flight",
            "hedge only after that, if a tail is left",
        ],
        (Cause::Shared, _) => &["find the shared dependency: what happens in these episodes?"],
        (Cause::Saturated, _) => &["add capacity, or shed load; limit how much is asked at once"],
        (Cause::Caller, _) => &["fix the caller: threads, event loop, garbage collection"],
        (Cause::Network, _) => &["look at the path: loss, retransmissions, distance"],
        (Cause::Request, _) => &["make these requests cheaper: a cache, an index, a limit, a deadline"],
        (Cause::Mixed, _) => &["take out what explains most first"],
        _ => &[],
    };
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// What an episode, an instance or a class tells about what to look for.
pub(super) fn after_episodes(advice: &mut Recommendation, verdict: &Verdict) {
    if let Some(Episodes { regular: true, .. }) = verdict.episodes {
        advice.instead.push("they come in regular steps: look for a scheduled job".to_owned());
    }
    if verdict.cause == Cause::Instance && !verdict.elevated.is_empty() {
        let text = format!("take out {}, or send less there", verdict.elevated.join(", "));
        advice.instead.insert(0, text);
    }
    if verdict.cause == Cause::Request && !verdict.slow_classes.is_empty() {
        advice.instead.insert(0, format!("begin with {}", verdict.slow_classes.join(", ")));
    }
}
