//! The report. Every output is drawn from it; its names are published by `observer schema report`.
//!
//! Units are in the names; durations are seconds. What was not measured is absent.

mod asked;
mod quantiles;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

pub use self::{
    asked::Asked,
    quantiles::{Histogram, Intervals, Quantiles},
};
use crate::{
    analysis::model::Assessment,
    provenance::{Degradation, SourceKind},
};

/// The version of the model: it changes when a field is removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// What was observed, per service and instance, and what follows from it.
///
/// What was not measured, or cannot be told from so few exchanges, is absent: no field is ever null.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Changes when a field is removed or changes its meaning.
    pub schema_version: u32,
    /// The program that made the report.
    pub tool: Tool,
    /// When was observed.
    pub window: Window,
    /// Where the exchanges come from, and what was lost on the way.
    pub source: Source,
    /// Which exchanges the report is about.
    pub selection: Selection,
    /// What was asked about them.
    pub question: Asked,
    /// The services, the busiest first.
    pub services: Vec<Service>,
    /// Services beyond the number that is kept apart, together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherServices>,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A span of time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Window {
    /// Its beginning (RFC 3339, UTC); absent where the exchanges' clock is not tied to the wall clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Its length.
    pub duration_s: f64,
}

/// Where the exchanges come from, and what was lost on the way.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Source {
    /// The kind of source.
    pub kind: SourceKind,
    /// What must be known about this kind of source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Exchanges in this report, however they ended.
    pub exchanges: u64,
    /// Records of the probes that were lost, to the last one: an exchange paired by turns is one record, one of HTTP/2
    /// three or more, so that it is an upper bound of lost exchanges.
    pub lost_events: u64,
    /// The share of exchanges that was recorded: 1 where all were.
    pub sampled_fraction: f64,
    /// What is no certain pair and therefore in no histogram, by reason.
    pub unpaired: BTreeMap<String, u64>,
    /// Unpaired ÷ (exchanges + unpaired), before any selection and without what was lost.
    pub unmeasurable_share: f64,
    /// What this observation lacks.
    pub degraded: Vec<Degradation>,
    /// Rows of the input that were left out because they were bad; absent where there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped_rows: u64,
}

/// Which exchanges a report is about. An empty list selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Selection {
    /// Which side of connections.
    pub role: SelectedRole,
    /// Ports of instances.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
    /// Those of `ports` for which no exchange was seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports_not_seen: Vec<u16>,
    /// Observed processes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pids: Vec<u32>,
    /// Patterns for the observed processes' names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comms: Vec<String>,
    /// Patterns for the observed processes' control groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cgroups: Vec<String>,
}

/// Which side of connections a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SelectedRole {
    /// Requests that were sent.
    #[default]
    Client,
    /// Requests that were served.
    Server,
    /// Both.
    Both,
}

/// Instances that a client uses interchangeably.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Who asks, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// What is spoken, where it was recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Which side was observed: `client` or `server`.
    pub role: String,
    /// All its exchanges together.
    #[serde(flatten)]
    pub measured: Measured,
    /// How exactly the quantiles of `latency_s` are known.
    pub ci_s: Intervals,
    /// Why its tail is slow, and what to do about it.
    #[serde(flatten)]
    pub assessment: Assessment,
    /// Its instances, by address.
    pub instances: Vec<Instance>,
    /// Instances beyond the number that is kept apart, together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherInstances>,
}

/// One backend address.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Instance {
    /// The address, `192.0.2.1:80` or `[2001:db8::1]:80`.
    pub address: String,
    /// Its exchanges.
    #[serde(flatten)]
    pub measured: Measured,
    /// The share of its assessed requests that took longer than `verdict.slow_above_s`; absent where that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_share: Option<f64>,
    /// Whether it is slow as a whole.
    pub elevated: bool,
    /// When its first exchange began, after the start of the window.
    pub first_start_s: f64,
    /// When its last exchange began, after the start of the window.
    pub last_start_s: f64,
}

/// Services beyond the number that is kept apart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OtherServices {
    /// How many they are at least.
    pub services: usize,
    /// All their exchanges together.
    #[serde(flatten)]
    pub measured: Measured,
}

/// Instances of a service beyond the number that is kept apart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OtherInstances {
    /// How many they are at least.
    pub instances: usize,
    /// All their exchanges together.
    #[serde(flatten)]
    pub measured: Measured,
}

/// What was measured about a set of exchanges.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// How many there were, however they ended.
    pub exchanges: u64,
    /// Exchanges per second of the window; absent where the window has no length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Requests that still waited at the end of the window.
    pub in_flight: u64,
    /// How long the oldest of them had waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_oldest_s: Option<f64>,
    /// How they ended.
    pub outcomes: Outcomes,
    /// Answers that are failures by their protocol's own status.
    pub failed: u64,
    /// The share that was not answered: pending, cancelled, reset or timed out. Of those only a lower bound of the
    /// latency is known, and as such they are in the quantiles of the first-byte latency.
    pub censored_share: f64,
    /// First-byte latency: from the first request byte to the first response byte that could be read.
    pub latency_s: Quantiles,
    /// Last-byte latency: from the first request byte to the last response byte.
    pub last_byte_s: Quantiles,
    /// Whether the last byte comes much later than the first: at the median or at p99 after twice the time or more.
    /// The first byte then tells little about the whole answer.
    pub last_byte_late: bool,
    /// From the first response byte until the application looked at it.
    pub read_lag_s: Quantiles,
    /// First-byte latency, counted in half octaves.
    pub latency_histogram: Histogram,
    /// Latencies longer than an hour, which count as an hour; absent where there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub saturated: u64,
    /// The mean smoothed round-trip time of the connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srtt_s: Option<f64>,
    /// The share of exchanges during which a segment was seen again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmit_share: Option<f64>,
    /// The end of the window alone; absent where the whole window is no longer than that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent: Option<Recent>,
}

/// How exchanges ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outcomes {
    /// A response came.
    pub ok: u64,
    /// The request still waited.
    pub pending: u64,
    /// The observed side ended the connection before a response came.
    pub cancelled: u64,
    /// The other side ended the connection before a response came.
    pub reset: u64,
    /// TCP gave up.
    pub timeout: u64,
}

/// The exchanges that began lately.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Recent {
    /// How long before the newest exchange they began at most.
    pub duration_s: f64,
    /// How many of them were answered.
    pub answered: u64,
    /// First-byte latency.
    pub latency_s: Quantiles,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
