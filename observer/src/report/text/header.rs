//! What was observed, when and how; loudly what is missing.

use observer_common::Reason;

use super::{style::Color, units};
use crate::{
    printable::printable,
    provenance::SourceKind,
    report::model::{Report, SelectedRole, Selection, Source, Window},
};

pub(super) fn lines(report: &Report, color: Color) -> Vec<String> {
    let tool = color.heading(format!("{} {}", report.tool.name, report.tool.version));
    let mut lines = vec![
        format!("{tool}: {}", how(report.source.kind)),
        format!("window     {}", window(&report.window)),
        format!("exchanges  {}", exchanges(&report.source)),
    ];
    lines.extend(selection(&report.selection).map(|selection| format!("selected   {selection}")));
    lines.extend(unpaired(&report.source).map(|line| color.faint(line)));
    lines.extend(warnings(report).map(|warning| color.warning(warning)));
    lines
}

const fn how(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Kernel => "latency of requests, measured in the kernel",
        SourceKind::Pcap => "latency of requests, from a packet capture",
        SourceKind::Table => "latency of requests, from a table",
        SourceKind::AccessLog => "latency of requests, from an access log",
        SourceKind::DemoClient => "latency of requests, as the demo client saw it",
    }
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
            parts.push(format!("{what} {}", printable(&items.join(" or "))));
        }
    };
    list("port", selection.ports.iter().map(ToString::to_string).collect());
    list("pid", selection.pids.iter().map(ToString::to_string).collect());
    list("comm", selection.comms.clone());
    list("cgroup", selection.cgroups.clone());
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn unpaired(source: &Source) -> impl Iterator<Item = String> {
    source.unpaired.iter().filter(|(_, count)| **count > 0).map(|(name, count)| {
        let meaning = Reason::ALL.iter().find(|reason| reason.name() == name).map(|reason| reason.meaning());
        let meaning = meaning.map(|meaning| format!(": {meaning}")).unwrap_or_default();
        format!("unpaired   {} {name}{meaning}", units::count(*count))
    })
}

fn warnings(report: &Report) -> impl Iterator<Item = String> {
    let source = &report.source;
    let note = source.note.iter().map(|note| format!("NOTE: {note}."));
    let lost = (source.lost_events > 0).then(|| {
        let share = source.lost_events as f64 / (source.lost_events + source.exchanges) as f64;
        format!(
            "LOST: up to {} exchanges ({}) are in no figure below.",
            units::count(source.lost_events),
            units::percent(share)
        )
    });
    let skipped = (source.skipped_rows > 0)
        .then(|| format!("SKIPPED: {} bad rows of the input.", units::count(source.skipped_rows)));
    let degraded = source.degraded.iter().map(|degradation| {
        format!("DEGRADED: {} ({}): {}.", degradation.what, degradation.reason, degradation.consequence)
    });
    let not_seen = report
        .selection
        .ports_not_seen
        .iter()
        .map(|port| format!("NOTHING SEEN: no exchange on port {port}."));
    note.chain(lost).chain(skipped).chain(degraded).chain(not_seen)
}
