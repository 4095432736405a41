//! All that is kept about one instance.

use observer_common::Outcome;

use super::{counts::Counts, distribution::Distribution, rolling::Rolling};
use crate::exchange::Exchange;

/// Counts and distributions of one instance, or of what a bucket stands for.
///
/// The distributions are those of answered exchanges, but for `censored`.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// What can be counted.
    pub counts: Counts,
    /// Until the first response byte.
    pub latency: Distribution,
    /// How long was waited for answers that did not come, or not yet.
    pub censored: Distribution,
    /// Until the last response byte.
    pub last_byte: Distribution,
    /// From the first response byte until the application looked at it.
    pub read_lag: Distribution,
    /// `latency` over the last minute.
    pub recent: Rolling,
}

impl Tally {
    /// Takes in one exchange.
    pub(super) fn record(&mut self, exchange: &Exchange) {
        self.counts.record(exchange);
        if exchange.outcome != Outcome::Ok {
            self.censored.record(exchange.latency);
            return;
        }
        self.latency.record(exchange.latency);
        self.recent.record(exchange.start, exchange.latency);
        if let Some(complete) = exchange.complete {
            self.last_byte.record(complete);
        }
        if let Some(read_lag) = exchange.read_lag {
            self.read_lag.record(read_lag);
        }
    }
}
