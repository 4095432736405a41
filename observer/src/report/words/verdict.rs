//! Why requests are slow.

use super::{Line, units};
use crate::analysis::model::{Cause, Composition, Episodes, Portion, Verdict};

/// The cause, and how sure that is.
pub(in crate::report) fn why(verdict: &Verdict) -> Line {
    ("why", cause(verdict))
}

/// Which requests are slow, and what is missing for a verdict, or where or when they are.
pub(in crate::report) fn particulars(verdict: &Verdict) -> Vec<Line> {
    let slow = slow(verdict).map(|slow| ("slow", slow));
    let missing = verdict.missing.clone().map(|missing| ("missing", missing));
    let rest = missing.or_else(|| place(verdict).map(|place| ("where", place)));
    slow.into_iter().chain(rest).collect()
}

fn cause(verdict: &Verdict) -> String {
    let name = match verdict.cause {
        Cause::Independent => "independent",
        Cause::IndependentOrRequest => "independent, or costly requests",
        Cause::Instance => "slow instances",
        Cause::Shared => "shared",
        Cause::Saturated => "saturated",
        Cause::Caller => "the caller",
        Cause::Network => "the network",
        Cause::Request => "costly requests",
        Cause::Mixed => "mixed",
        Cause::NoTail => "no tail",
        Cause::Insufficient => return format!("not known: {}", verdict.summary),
    };
    format!("{name}, {} sure: {}", units::whole_percent(verdict.confidence), verdict.summary)
}

fn slow(verdict: &Verdict) -> Option<String> {
    let above = units::duration(verdict.slow_above_s?);
    let (slow, assessed) = (units::count(verdict.slow), units::count(verdict.assessed));
    let mut text = format!("{slow} of {assessed} requests took longer than {above}");
    // What explains them is only said with a cause.
    if verdict.slow > 0 && verdict.cause != Cause::Insufficient {
        text += &composition(&verdict.composition).map(|parts| format!(": {parts}")).unwrap_or_default();
    }
    Some(text)
}

/// The three largest shares in words, the first with its interval.
fn composition(composition: &Composition) -> Option<String> {
    let mut portions = [
        (composition.independent, "by chance"),
        (composition.instance, "at slow instances"),
        (composition.shared, "when instances were slow together"),
        (composition.saturated, "at full instances"),
        (composition.caller, "read late by the caller"),
        (composition.network, "on the network"),
        (composition.request, "for what was asked"),
    ];
    portions.sort_by(|(one, _), (other, _)| other.share.total_cmp(&one.share));
    let mut parts = portions.into_iter().take(3).filter(|(portion, _)| portion.share >= 0.005);
    let (first, words) = parts.next()?;
    let first = format!("{}{} {words}", units::whole_percent(first.share), interval(first));
    let rest = parts.map(|(portion, words)| format!("{} {words}", units::whole_percent(portion.share)));
    Some([first].into_iter().chain(rest).collect::<Vec<_>>().join(", "))
}

fn interval(portion: Portion) -> String {
    let [low, high] = portion.ci.map(|bound| format!("{:.0}", bound * 100.0));
    if low == high { String::new() } else { format!(" ({low} to {high} %)") }
}

/// Where the slow requests are, or when they were: what the cause is about comes first.
fn place(verdict: &Verdict) -> Option<String> {
    let elevated = listed(&verdict.elevated, "slow as a whole");
    let classes = listed(&verdict.slow_classes, "slow at every instance");
    let episodes = verdict.episodes.as_ref().map(episodes);
    let clusters = verdict.clusters.iter().find_map(|cluster| listed(cluster, "pause together"));
    let places = match verdict.cause {
        Cause::Shared | Cause::Saturated => [episodes, elevated, classes, clusters],
        Cause::Request => [classes, elevated, episodes, clusters],
        _ => [elevated, clusters, episodes, classes],
    };
    let places: Vec<_> = places.into_iter().flatten().collect();
    (!places.is_empty()).then(|| places.join("; "))
}

/// The first three of what may be many.
pub(super) fn names(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn listed(of: &[String], what: &str) -> Option<String> {
    (!of.is_empty()).then(|| format!("{} {what}", names(of)))
}

fn episodes(episodes: &Episodes) -> String {
    let (first, last) = (units::duration(episodes.first_s), units::duration(episodes.last_s));
    let length = units::duration(episodes.length_s);
    let instances = units::whole_percent(episodes.instances);
    if episodes.count == 1 {
        return format!("once, {first} after the start, for {length}, at {instances} of the instances");
    }
    let steps = episodes
        .every_s
        .filter(|_| episodes.regular)
        .map_or_else(String::new, |every| format!(", in regular steps of {}", units::duration(every)));
    let times = units::count(episodes.count);
    format!(
        "{times} times from {first} to {last} after the start{steps}, each for {length}, at {instances} of the \
         instances"
    )
}
