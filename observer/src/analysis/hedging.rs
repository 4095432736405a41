//! Copies of requests that are in the traffic already.

use observer_common::Nanoseconds;

use super::{model::Hedging, samples::Samples};
use crate::{ledger::Row, maps::HashMap};

/// Copies that a log tells apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Copies {
    /// What is reported of them.
    pub(super) hedging: Hedging,
    /// After how long they are sent, at the median; absent where no first copy is known.
    pub(super) delay: Option<Nanoseconds>,
}

/// First copies by request: when each began, and when it had a good answer, if ever.
type Firsts = HashMap<u64, (u64, Option<u64>)>;

/// Copies in the traffic; nothing where there are none.
pub(super) fn copies(samples: &Samples, rows: &[Row]) -> Option<Copies> {
    let count = samples.copies.len();
    (count > 0).then(|| {
        let firsts = firsts(rows);
        let races: Vec<(&Row, (u64, Option<u64>))> = rows
            .iter()
            .filter(|row| is_copy(row))
            .filter_map(|copy| Some((copy, *firsts.get(&copy.request()?)?)))
            .collect();
        let hedging = Hedging {
            observed: true,
            // Copies whose first one is not among the rows are of as many requests.
            rate: count as f64 / samples.primaries.len().max(count) as f64,
            wins: wins(&races),
        };
        let mut delays: Vec<u64> =
            races.iter().map(|(copy, (start, _))| copy.start().0.saturating_sub(*start)).collect();
        delays.sort_unstable();
        Copies { hedging, delay: delays.get(delays.len() / 2).copied().map(Nanoseconds) }
    })
}

fn is_copy(row: &Row) -> bool {
    row.attempt().is_some_and(|attempt| attempt > 0)
}

/// When a row has a good answer, if ever.
fn good(row: &Row) -> Option<u64> {
    (!row.is_censored() && !row.is_failed()).then(|| row.start().0.saturating_add(row.experienced().0))
}

fn firsts(rows: &[Row]) -> Firsts {
    let firsts = rows.iter().filter(|row| !is_copy(row));
    firsts.filter_map(|row| Some((row.request()?, (row.start().0, good(row))))).collect()
}

/// Which share of copies have a good answer before their first copy has one. One that was given up has lost.
fn wins(races: &[(&Row, (u64, Option<u64>))]) -> Option<f64> {
    let won = |(copy, (_, first)): &&(&Row, (u64, Option<u64>))| {
        good(copy).is_some_and(|copy| first.is_none_or(|first| copy < first))
    };
    (!races.is_empty()).then(|| races.iter().filter(won).count() as f64 / races.len() as f64)
}
