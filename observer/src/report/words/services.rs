//! What is said of a service and of what was measured about it.

use super::units;
use crate::{
    provenance::SourceKind,
    report::model::{Measured, Service},
};

/// What stands for a report without services.
pub(in crate::report) const NOTHING_SEEN: &str = "No exchange was seen.";

/// What services are called that are not kept apart.
pub(in crate::report) const OTHERS: &str = "services beyond the limit, together";

/// Who asks whom, and how.
pub(in crate::report) fn title(service: &Service) -> String {
    let mut title = format!("service {}", service.name);
    if let Some(client) = &service.client {
        title += &format!(", client {client}");
    }
    if let Some(protocol) = &service.protocol {
        title += &format!(", {protocol}");
    }
    title + &format!(", seen as {}", service.role)
}

/// What stands for names that are not kept apart.
pub(in crate::report) fn at_least(number: usize, what: &str) -> String {
    format!("(at least {number} {what})")
}

/// A latency, marked where it is only a lower bound. Access logs count in milliseconds: 0 is less than one.
pub(in crate::report) fn bound(seconds: Option<f64>, at_least: bool, source: SourceKind) -> String {
    match (source, seconds) {
        (SourceKind::AccessLog, Some(0.0)) if !at_least => "< 1 ms".into(),
        _ => units::bound(seconds, at_least),
    }
}

/// p50, p90, p99 and p99.9, as tables of instances begin.
pub(in crate::report) fn quantiles(measured: &Measured, source: SourceKind) -> [String; 4] {
    let latency = &measured.latency_s;
    [("p50", latency.p50), ("p90", latency.p90), ("p99", latency.p99), ("p999", latency.p999)]
        .map(|(name, seconds)| bound(seconds, latency.is_at_least(name), source))
}

/// What the quantiles of the whole window do not show.
pub(in crate::report) fn notes(measured: &Measured, source: SourceKind) -> Vec<String> {
    let recent = recent(measured, source);
    recent.into_iter().chain(notable(measured)).chain(late_last_byte(measured, source)).collect()
}

/// How the end of the window was.
fn recent(measured: &Measured, source: SourceKind) -> Option<String> {
    let recent = measured.recent.as_ref()?;
    let known_duration = |seconds| bound(seconds, false, source);
    Some(format!(
        "last {}: {} answered, p50 {}, p99 {}, max {}",
        units::duration(recent.duration_s),
        units::count(recent.answered),
        known_duration(recent.latency_s.p50),
        known_duration(recent.latency_s.p99),
        known_duration(recent.latency_s.max),
    ))
}

/// Requests without an answer, and answers that are failures.
fn notable(measured: &Measured) -> Vec<String> {
    let outcomes = measured.outcomes;
    let unanswered = listed(&[
        (outcomes.pending, "still waiting"),
        (outcomes.cancelled, "cancelled"),
        (outcomes.reset, "reset by the other side"),
        (outcomes.timeout, "timed out"),
    ]);
    let special = listed(&[
        (measured.failed, "answers were failures"),
        (measured.saturated, "took longer than an hour"),
    ]);
    let share = units::percent(measured.censored_share);
    let unanswered = unanswered.map(|listed| {
        format!("not answered: {listed} ({share} of all; they count as longer than they waited)")
    });
    unanswered.into_iter().chain(special).collect()
}

/// Where the first byte tells little about the whole answer.
fn late_last_byte(measured: &Measured, source: SourceKind) -> Option<String> {
    let known_duration = |seconds| bound(seconds, false, source);
    measured.last_byte_late.then(|| {
        format!(
            "the last byte comes much later than the first: p50 {} after {}, p99 {} after {}",
            known_duration(measured.last_byte_s.p50),
            known_duration(measured.latency_s.p50),
            known_duration(measured.last_byte_s.p99),
            known_duration(measured.latency_s.p99),
        )
    })
}

fn listed(counts: &[(u64, &str)]) -> Option<String> {
    let occurred = counts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = occurred.map(|(count, what)| format!("{} {what}", units::count(*count))).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
