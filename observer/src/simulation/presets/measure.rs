//! What is compared with what was published.

use observer_common::Nanoseconds;
use schemars::JsonSchema;
use serde::Serialize;

use crate::simulation::{Outcome, WithoutQueues};

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// The latency that this share of requests does not exceed, in seconds.
    Latency(f64),
    /// The share of requests that take longer than this.
    LongerThan(Nanoseconds),
    /// The share of requests of which a call had a second copy.
    HedgedShare,
    /// Copies that were begun to be served ÷ requests.
    Executions,
    /// Hedges that were due and not sent.
    Denied,
    /// Copies that were cancelled before they answered.
    Cancelled,
}

/// In what a figure is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Parts of a whole.
    Share,
    /// Parts of one request.
    Ratio,
    /// Things.
    Count,
}

impl Measure {
    /// Its name, as people write it.
    pub fn name(self) -> String {
        match self {
            Self::Latency(share) => format!("p{}", (share * 1e5).round() / 1e3),
            Self::LongerThan(limit) => format!("longer than {} s", limit.as_seconds()),
            Self::HedgedShare => "hedged".into(),
            Self::Executions => "executions".into(),
            Self::Denied => "denied".into(),
            Self::Cancelled => "cancelled".into(),
        }
    }

    /// In what it is counted.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Latency(_) => Unit::Seconds,
            Self::LongerThan(_) | Self::HedgedShare => Unit::Share,
            Self::Executions => Unit::Ratio,
            Self::Denied | Self::Cancelled => Unit::Count,
        }
    }

    /// What a run says.
    pub(super) fn of(self, outcome: &Outcome) -> f64 {
        let counts = &outcome.counts;
        match self {
            Self::Latency(share) => outcome.latency().quantile(share).as_seconds(),
            Self::LongerThan(limit) => {
                let latency = outcome.latency();
                let longer = latency.counts().filter(|(latency, _)| *latency > limit);
                longer.map(|(_, count)| count).sum::<u64>() as f64 / counts.requests as f64
            }
            Self::HedgedShare => outcome.hedged_share(),
            Self::Executions => outcome.executions_per_request(),
            Self::Denied => counts.denied.all() as f64,
            Self::Cancelled => (counts.dropped_waiting + counts.dropped_served) as f64,
        }
    }

    /// What a formula says, where one does.
    pub(super) fn exact(self, formula: &WithoutQueues<'_>) -> Option<f64> {
        match self {
            Self::Latency(share) => Some(formula.quantile(share).as_seconds()),
            Self::LongerThan(limit) => Some(formula.survival(limit)),
            Self::HedgedShare => Some(formula.hedged_share()),
            Self::Executions => Some(formula.copies_per_request()),
            Self::Denied | Self::Cancelled => None,
        }
    }
}
