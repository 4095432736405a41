//! Quantiles as the report prints them.

use super::model::Quantiles;
use crate::ledger::{self, Merged, Quantile};

/// The quantiles of a report: name, share, and how many exchanges it takes to expect one beyond it.
const QUANTILES: [(&str, f64, u64); 5] =
    [("p50", 0.5, 2), ("p90", 0.9, 10), ("p95", 0.95, 20), ("p99", 0.99, 100), ("p999", 0.999, 1_000)];

impl Quantiles {
    pub(super) fn of(answered: &Merged, censored: &Merged) -> Self {
        let count = answered.count() + censored.count();
        let found = ledger::quantiles(answered, censored, QUANTILES.map(|(_, share, _)| share));
        let mut at_least = Vec::new();
        let mut values = [None; QUANTILES.len()];
        for (((name, _, least), quantile), value) in QUANTILES.iter().zip(found).zip(&mut values) {
            if count < *least {
                continue;
            }
            let (Quantile::Exactly(duration) | Quantile::AtLeast(duration)) = quantile;
            *value = Some(duration.as_seconds());
            if matches!(quantile, Quantile::AtLeast(_)) {
                at_least.push((*name).to_owned());
            }
        }
        if censored.count() > 0 && censored.max() >= answered.max() {
            at_least.push("max".to_owned());
        }
        let [p50, p90, p95, p99, p999] = values;
        let max = (count > 0).then(|| answered.max().max(censored.max()).as_seconds());
        Self { p50, p90, p95, p99, p999, max, at_least }
    }
}
