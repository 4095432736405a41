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

/// Where exchanges come from, and what was lost on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The kind of source.
    pub kind: SourceKind,
    /// What was observed; a table without metadata leaves it to its first and last exchange.
    pub window: Option<Window>,
    /// Exchanges that were certain and were lost, to the last one.
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
}
