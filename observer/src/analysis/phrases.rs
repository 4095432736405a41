//! What an assessment says in words.

use super::{
    advice::{Found, Objection},
    model::{Action, Cause, Episodes, Recommendation, Verdict},
    samples::Samples,
    verdict::{Judgement, Missing},
};

/// Whether a second copy would be faster, where that is known.
pub(super) const fn helps(cause: Cause, action: Action) -> Option<bool> {
    match (cause, action) {
        (Cause::Insufficient | Cause::IndependentOrRequest | Cause::Instance, _) => None,
        (_, Action::Hedge | Action::Canary) => Some(true),
        _ => Some(false),
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
pub(super) fn complete(advice: &mut Recommendation, found: &Found<'_>, objection: Option<Objection>) {
    if matches!(advice.action, Action::Hedge | Action::Canary) {
        advice.conditions = conditions(advice, found);
        advice.warnings = warnings(advice, found);
    }
    advice.instead = instead(found.judgement.cause, objection);
}

fn conditions(advice: &Recommendation, found: &Found<'_>) -> Vec<String> {
    let mut conditions = Vec::new();
    if found.repeatable.is_unknown(found.samples) {
        conditions
            .push("requests may be sent twice, which their names do not tell (--idempotent)".to_owned());
    }
    if found.repeatable.share() < 1.0 {
        conditions.push(format!(
            "only what may be sent twice is: {:.0} % of the requests write and are excluded",
            (1.0 - found.repeatable.share()) * 100.0
        ));
    }
    if found.question.utilisation.is_none() {
        conditions.push(
            "the instances have room for it: a client sees only its own load (--utilization); begin with 1 % and look at \
             their load before more"
                .to_owned(),
        );
    }
    if advice.action == Action::Canary {
        conditions.push(format!(
            "the budget is raised to {:.1} % only if copies win about as often as they would by chance: a costly request \
             is as slow a second time",
            advice.expected.as_ref().map_or(5.0, |expected| expected.hedge_rate * 100.0)
        ));
    }
    conditions.push("a copy goes to another instance, and nobody above or below hedges too".to_owned());
    conditions
}

fn warnings(advice: &Recommendation, found: &Found<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.push(
        "without an enforced budget copies can feed themselves; when they sit at it, the instances queue"
            .to_owned(),
    );
    if let (Some(expected), Some(0.99)) = (&advice.expected, Some(advice.target))
        && let (Some(before), Some(after)) = (expected.before.p999, expected.after.p999)
        && after > before
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

fn instead(cause: Cause, objection: Option<Objection>) -> Vec<String> {
    let lines: &[&str] = match (cause, objection) {
        (_, Some(Objection::Writes)) => &["set a deadline: requests that write must not be sent twice"],
        (_, Some(Objection::NoRoom)) => &["add capacity first: the instances have no room for copies"],
        (_, Some(Objection::NotWorthIt)) => {
            &["leave it: second copies would hardly lower the target quantile"]
        }
        (_, Some(Objection::Together)) => &["find what makes instances slow together first"],
        (_, Some(Objection::Alone)) => &["add a second instance"],
        (Cause::Instance, None) => &[
            "look at what is wrong with it: its host, its disk, its load; balance by requests in flight",
            "hedge only after that, if a tail is left",
        ],
        (Cause::Shared, None) => &["find the shared dependency: what happens in these episodes?"],
        (Cause::Saturated, None) => &["add capacity, or shed load; limit how much is asked at once"],
        (Cause::Caller, None) => &["fix the caller: threads, event loop, garbage collection"],
        (Cause::Network, None) => &["look at the path: loss, retransmissions, distance"],
        (Cause::Request, None) => &["make these requests cheaper: a cache, an index, a limit, a deadline"],
        (Cause::Mixed, None) => &["take out what explains most first"],
        _ => &[],
    };
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// What an episode tells about what to look for.
pub(super) fn after_episodes(advice: &mut Recommendation, verdict: &Verdict) {
    if let Some(Episodes { regular: true, .. }) = verdict.episodes {
        advice.instead.push("they come in regular steps: look for a scheduled job".to_owned());
    }
    if verdict.cause == Cause::Instance && !verdict.elevated.is_empty() {
        advice
            .instead
            .insert(0, format!("take out {} first, or send less there", verdict.elevated.join(", ")));
    }
    if verdict.cause == Cause::Request && !verdict.slow_classes.is_empty() {
        advice.instead.insert(0, format!("begin with {}", verdict.slow_classes.join(", ")));
    }
}
