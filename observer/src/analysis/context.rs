//! What an assessment must know besides the exchanges.

use observer_common::Nanoseconds;

use crate::{ledger::Metric, provenance::Degradation};

/// What an assessment must know besides the exchanges and what is asked.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// What is spoken, where it was recognised: `http1`, `grpc`, `redis` and others.
    pub protocol: Option<&'a str>,
    /// Whether all exchanges are of one client that is known; otherwise several may ask, each with its own reasons.
    pub client_known: bool,
    /// Whether an instance is a virtual address: several may answer behind it, so that nothing can be told across
    /// instances.
    pub virtual_address: bool,
    /// How long was observed.
    pub window: Nanoseconds,
    /// How many exchanges the service had in that time; where they are more than the rows, the rows are the latest.
    pub exchanges: u64,
    /// Which share of exchanges was recorded, 1 where all were.
    pub sampled_fraction: f64,
    /// What the rows measure.
    pub metric: Metric,
    /// What the observation lacks.
    pub degraded: &'a [Degradation],
}
