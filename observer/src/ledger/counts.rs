//! What can simply be counted and added up.

use std::ops::AddAssign;

use observer_common::{Nanoseconds, Outcome, Timestamp};

use crate::exchange::Exchange;

/// Counts over exchanges. Adding is associative and commutative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    outcomes: [u64; Outcome::ALL.len()],
    /// Answers that are failures.
    pub failed: u64,
    /// How long the request that has been waiting longest has waited.
    pub oldest_pending: Option<Nanoseconds>,
    /// When the first exchange began.
    pub first_start: Timestamp,
    /// When the last exchange began.
    pub last_start: Timestamp,
    /// When the last exchange ended.
    pub last_end: Timestamp,
    srtt_sum: Nanoseconds,
    srtt_known: u64,
    retransmitted: u64,
    retransmits_known: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            outcomes: [0; Outcome::ALL.len()],
            failed: 0,
            oldest_pending: None,
            first_start: Timestamp(u64::MAX),
            last_start: Timestamp(0),
            last_end: Timestamp(0),
            srtt_sum: Nanoseconds(0),
            srtt_known: 0,
            retransmitted: 0,
            retransmits_known: 0,
        }
    }
}

impl Counts {
    /// Counts one exchange.
    pub(super) fn record(&mut self, exchange: &Exchange) {
        self.outcomes[exchange.outcome as usize] += 1;
        self.failed += u64::from(exchange.failed);
        if exchange.outcome == Outcome::Pending {
            self.oldest_pending = self.oldest_pending.max(Some(exchange.latency));
        }
        let duration = exchange.complete.map_or(exchange.latency, |complete| complete.max(exchange.latency));
        self.first_start = self.first_start.min(exchange.start);
        self.last_start = self.last_start.max(exchange.start);
        self.last_end = self.last_end.max(Timestamp(exchange.start.0.saturating_add(duration.0)));
        if let Some(srtt) = exchange.srtt {
            self.srtt_sum.0 = self.srtt_sum.0.saturating_add(srtt.0);
            self.srtt_known += 1;
        }
        if let Some(retransmits) = exchange.retransmits {
            self.retransmitted += u64::from(retransmits > 0);
            self.retransmits_known += 1;
        }
    }

    /// All exchanges, however they ended.
    pub fn exchanges(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// How many ended like this.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// The mean smoothed round-trip time of the exchanges where it is known.
    pub fn mean_srtt(&self) -> Option<Nanoseconds> {
        self.srtt_sum.0.checked_div(self.srtt_known).map(Nanoseconds)
    }

    /// The share of exchanges during which a segment was seen again, of those where that is known.
    pub fn retransmit_share(&self) -> Option<f64> {
        (self.retransmits_known > 0).then(|| self.retransmitted as f64 / self.retransmits_known as f64)
    }
}

impl AddAssign<&Self> for Counts {
    fn add_assign(&mut self, other: &Self) {
        for (mine, theirs) in self.outcomes.iter_mut().zip(other.outcomes) {
            *mine += theirs;
        }
        self.failed += other.failed;
        self.oldest_pending = self.oldest_pending.max(other.oldest_pending);
        self.first_start = self.first_start.min(other.first_start);
        self.last_start = self.last_start.max(other.last_start);
        self.last_end = self.last_end.max(other.last_end);
        self.srtt_sum.0 = self.srtt_sum.0.saturating_add(other.srtt_sum.0);
        self.srtt_known += other.srtt_known;
        self.retransmitted += other.retransmitted;
        self.retransmits_known += other.retransmits_known;
    }
}
