//! What was observed, when and how; loudly what is missing.

use observer_common::Reason;

use super::{Line, units};
use crate::{
    provenance::SourceKind,
    report::model::{Report, SelectedRole, Selection, Source, Window},
};

/// The program that made the report.
pub(in crate::report) fn tool(report: &Report) -> String {
    format!("{} {}", report.tool.name, report.tool.version)
}

/// What the report is of.
pub(in crate::report) const fn how(report: &Report) -> &'static str {
    match report.source.kind {
        SourceKind::Kernel => "latency of requests, measured in the kernel",
        SourceKind::Pcap => "latency of requests, from a packet capture",
        SourceKind::Table => "latency of requests, from a table",
        SourceKind::AccessLog => "latency of requests, from an access log",
        SourceKind::DemoClient => "latency of requests, as the demo client saw it",
    }
}

/// When was observed, how much, and which of it.
pub(in crate::report) fn observed(report: &Report) -> Vec<Line> {
    let lines = [("window", window(&report.window)), ("exchanges", exchanges(&report.source))].into_iter();
    lines.chain(selection(&report.selection).map(|selection| ("selected", selection))).collect()
}

/// What is in no histogram, by reason.
pub(in crate::report) fn unpaired(report: &Report) -> impl Iterator<Item = Line> {
    report.source.unpaired.iter().filter(|(_, count)| **count > 0).map(|(name, count)| {
        let meaning = Reason::ALL.iter().find(|reason| reason.name() == name).map(|reason| reason.meaning());
        let meaning = meaning.map(|meaning| format!(": {meaning}")).unwrap_or_default();
        ("unpaired", format!("{} {name}{meaning}", units::count(*count)))
    })
}

/// What nobody may overlook.
pub(in crate::report) fn warnings(report: &Report) -> impl Iterator<Item = Line> {
    let source = &report.source;
    let note = source.note.iter().map(|note| ("NOTE", format!("{note}.")));
    let lost = (source.lost_events > 0).then(|| {
        let share = source.lost_events as f64 / (source.lost_events + source.exchanges) as f64;
        let (lost, share) = (units::count(source.lost_events), units::percent(share));
        ("LOST", format!("up to {lost} exchanges ({share}) are in no figure here."))
    });
    let skipped = (source.skipped_rows > 0)
        .then(|| ("SKIPPED", format!("{} bad rows of the input.", units::count(source.skipped_rows))));
    let degraded = source.degraded.iter().map(|degradation| {
        let text = format!("{} ({}): {}.", degradation.what, degradation.reason, degradation.consequence);
        ("DEGRADED", text)
    });
    let not_seen = report
        .selection
        .ports_not_seen
        .iter()
        .map(|port| ("NOTHING SEEN", format!("no exchange on port {port}.")));
    note.chain(lost).chain(skipped).chain(degraded).chain(not_seen)
}

fn window(window: &Window) -> String {
    let length = units::duration(window.duration_s);
    match (&window.start, &window.end) {
        (Some(start), Some(end)) => format!("{length}, {start} to {end}"),
        _ => length,
    }
}

fn exchanges(source: &Source) -> String {
    let mut text = format!(
        "{}, {} lost, {} not measurable",
        units::count(source.exchanges),
        units::count(source.lost_events),
        units::percent(source.unmeasurable_share),
    );
    if source.sampled_fraction < 1.0 {
        text += &format!(", {} of all sampled", units::percent(source.sampled_fraction));
    }
    text
}

fn selection(selection: &Selection) -> Option<String> {
    let mut parts = Vec::new();
    match selection.role {
        SelectedRole::Client => {}
        SelectedRole::Server => parts.push("role server".into()),
        SelectedRole::Both => parts.push("role client or server".into()),
    }
    let mut list = |what: &str, items: Vec<String>| {
        if !items.is_empty() {
            parts.push(format!("{what} {}", items.join(" or ")));
        }
    };
    list("port", selection.ports.iter().map(ToString::to_string).collect());
    list("pid", selection.pids.iter().map(ToString::to_string).collect());
    list("comm", selection.comms.clone());
    list("cgroup", selection.cgroups.clone());
    (!parts.is_empty()).then(|| parts.join(", "))
}
