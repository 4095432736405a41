//! Where exchanges come from, and what was lost on the way: it travels with them into every output.

use std::collections::BTreeMap;

use observer_common::{Nanoseconds, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of source the exchanges come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// The probes in the kernel.
    Kernel,
    /// A packet capture.
    Pcap,
    /// A table that somebody else wrote.
    Table,
    /// An access log of a proxy or of a load generator.
    AccessLog,
    /// The demo client's own timestamps, since the probes could not be loaded.
    DemoClient,
}

impl SourceKind {
    /// The name in reports and recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Pcap => "pcap",
            Self::Table => "table",
            Self::AccessLog => "access-log",
            Self::DemoClient => "demo-client",
        }
    }
}

/// Something that this observation lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Degradation {
    /// What is missing: a probe, a privilege, a view.
    pub what: String,
    /// Why it is missing, with the system's own word for it.
    pub reason: String,
    /// What can therefore not be told.
    pub consequence: String,
}

/// The span of time that was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its beginning, on the exchanges' clock.
    pub start: Timestamp,
    /// Its length.
    pub duration: Nanoseconds,
    /// What to add to the exchanges' clock to get nanoseconds since the Unix epoch, where it is known.
    pub wall_offset_ns: Option<i64>,
}

/// Adjustments of the wall clock move its offset by less than this; another boot or host moves it further.
const SAME_CLOCK: Nanoseconds = Nanoseconds(60_000_000_000);

impl Window {
    /// The window that spans both, or nothing if their clocks are not the same.
    fn and(self, other: Self) -> Option<Self> {
        if let (Some(one), Some(another)) = (self.wall_offset_ns, other.wall_offset_ns)
            && one.abs_diff(another) > SAME_CLOCK.0
        {
            return None;
        }
        let end = |window: Self| window.start.0.saturating_add(window.duration.0);
        let start = self.start.min(other.start);
        Some(Self {
            start,
            duration: Timestamp(end(self).max(end(other))).since(start).unwrap_or_default(),
            wall_offset_ns: self.wall_offset_ns.or(other.wall_offset_ns),
        })
    }
}

/// Where exchanges come from, and what was lost on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The kind of source.
    pub kind: SourceKind,
    /// What was observed; a table without metadata leaves it to its first and last exchange.
    pub window: Option<Window>,
    /// Records of the probes that were lost, to the last one: an exchange paired by turns is one record, one of HTTP/2
    /// three or more.
    pub lost_events: u64,
    /// Which share of exchanges was recorded, 1 where all were.
    pub sampled_fraction: f64,
    /// What is no certain pair, by reason (`observer_common::Reason::name`).
    pub unpaired: BTreeMap<String, u64>,
    /// What this observation lacks.
    pub degraded: Vec<Degradation>,
}

impl Provenance {
    /// A source of which nothing else is known.
    pub const fn of(kind: SourceKind) -> Self {
        Self {
            kind,
            window: None,
            lost_events: 0,
            sampled_fraction: 1.0,
            unpaired: BTreeMap::new(),
            degraded: Vec::new(),
        }
    }

    /// Both sources taken together, or nothing if they do not share a clock.
    ///
    /// The window spans both; it is unknown if one of them is.
    pub fn and(self, other: Self) -> Option<Self> {
        let window = match (self.window, other.window) {
            (Some(one), Some(another)) => Some(one.and(another)?),
            _ => None,
        };
        let mut unpaired = self.unpaired;
        for (reason, count) in other.unpaired {
            *unpaired.entry(reason).or_default() += count;
        }
        let mut degraded = self.degraded;
        degraded.extend(other.degraded);
        let mut distinct: Vec<Degradation> = Vec::new();
        for degradation in degraded {
            if !distinct.contains(&degradation) {
                distinct.push(degradation);
            }
        }
        Some(Self {
            kind: if self.kind == other.kind { self.kind } else { SourceKind::Table },
            window,
            lost_events: self.lost_events + other.lost_events,
            sampled_fraction: self.sampled_fraction.min(other.sampled_fraction),
            unpaired,
            degraded: distinct,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(start: u64, duration: u64, wall_offset_ns: i64) -> Provenance {
        let window = Window {
            start: Timestamp(start),
            duration: Nanoseconds(duration),
            wall_offset_ns: Some(wall_offset_ns),
        };
        Provenance { window: Some(window), lost_events: 1, ..Provenance::of(SourceKind::Kernel) }
    }

    #[test]
    fn two_recordings_span_both_windows() {
        let lack = Degradation { what: "a".into(), reason: "b".into(), consequence: "c".into() };
        let mut one = recorded(100, 50, 1_000);
        let mut another = recorded(300, 10, 1_007);
        for provenance in [&mut one, &mut another] {
            provenance.unpaired.insert("push".into(), 2);
            provenance.degraded.push(lack.clone());
        }
        let both = another.and(one).unwrap();
        let window = both.window.unwrap();
        assert_eq!((window.start, window.duration), (Timestamp(100), Nanoseconds(210)));
        assert_eq!(both.kind, SourceKind::Kernel);
        assert_eq!(both.lost_events, 2);
        assert_eq!(both.unpaired["push"], 4);
        assert_eq!(both.degraded, [lack]);
    }

    #[test]
    fn recordings_of_different_clocks_are_not_taken_together() {
        assert_eq!(recorded(100, 50, 0).and(recorded(100, 50, 3_600_000_000_000)), None);
    }

    #[test]
    fn a_table_without_a_window_leaves_it_open() {
        let both = recorded(100, 50, 0).and(Provenance::of(SourceKind::Table)).unwrap();
        assert_eq!(both.window, None);
        assert_eq!(both.kind, SourceKind::Table);
    }
}
