//! Quantiles of the observer against those of a load generator.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use observer_common::Nanoseconds;
use observer_tests::{observation::Recording, recording::Observed, say::say};

/// What a load generator measured.
pub(crate) struct Measured {
    /// Its name.
    pub(crate) name: &'static str,
    /// Pairs of a quantile and its value, in rising order; 1 is the maximum.
    pub(crate) quantiles: Vec<(f64, Nanoseconds)>,
    /// By how much a printed value may fall short of the true one: clock and print resolution.
    pub(crate) resolution: Nanoseconds,
    /// The interval at which it expects requests, where it corrects for those that slow ones have kept from being
    /// sent.
    pub(crate) expected_interval: Option<Nanoseconds>,
}

/// Adds what a load generator that sends at this interval would have measured while it waited: for every value
/// what is left of it after one interval, after two, and so on.
fn correct(values: &mut Vec<u64>, expected: Nanoseconds) {
    let mut missed = Vec::new();
    for value in values.iter().filter(|value| **value >= 2 * expected.0) {
        let mut left = value - expected.0;
        while left > expected.0 {
            missed.push(left);
            left -= expected.0;
        }
    }
    values.append(&mut missed);
}

/// The quantiles of every value: for load generators that log each.
pub(crate) fn quantiles_of(mut values: Vec<u64>) -> Vec<(f64, Nanoseconds)> {
    values.sort_unstable();
    [0.5, 0.9, 0.95, 0.99, 0.999, 1.0]
        .into_iter()
        .filter_map(|quantile| Some((quantile, Nanoseconds(*values.get(rank(quantile, values.len()))?))))
        .collect()
}

/// How far the median of what the caller experienced may lie from what the load generator says.
const CLOSE: f64 = 0.10;

/// For every quantile the observer's latency is at most the load generator's; with the time until the caller read
/// added, the median is within 10 %.
pub(crate) fn compare(measured: &Measured, exchanges: &[Observed]) -> Result<()> {
    let mut latencies: Vec<u64> = exchanges.iter().map(|exchange| exchange.latency.0).collect();
    let experienced: Option<Vec<u64>> =
        exchanges.iter().map(|exchange| Some(exchange.latency.0 + exchange.read_lag?.0)).collect();
    let mut experienced = experienced.context("every answered exchange has a read lag")?;
    if let Some(expected) = measured.expected_interval {
        correct(&mut latencies, expected);
        correct(&mut experienced, expected);
    }
    latencies.sort_unstable();
    experienced.sort_unstable();

    let mut table =
        format!("{} against the observer, {} exchanges, in µs:\n", measured.name, exchanges.len());
    writeln!(table, "{:>10} {:>14} {:>10} {:>12}", "quantile", "load generator", "latency", "+ read lag")?;
    for (quantile, value) in &measured.quantiles {
        let (at, late) = (rank(*quantile, latencies.len()), rank(*quantile, experienced.len()));
        let micros = |nanoseconds: u64| nanoseconds as f64 / 1e3;
        let row = (micros(value.0), micros(latencies[at]), micros(experienced[late]));
        writeln!(table, "{quantile:>10} {:>14.1} {:>10.1} {:>12.1}", row.0, row.1, row.2)?;
    }
    say(&table);

    for (quantile, value) in &measured.quantiles {
        // Load generators differ in which of two neighbours they call the quantile: take the lower one.
        let at = rank(*quantile, latencies.len()).saturating_sub(usize::from(*quantile < 1.0));
        ensure!(
            latencies[at] <= value.0 + measured.resolution.0,
            "{}: quantile {quantile} is {} ns, and {} ns to the observer",
            measured.name,
            value.0,
            latencies[at]
        );
    }
    let (_, median) =
        measured.quantiles.iter().find(|(quantile, _)| (*quantile - 0.5).abs() < 1e-9).context("a median")?;
    let seen = experienced[rank(0.5, experienced.len())];
    let distance = seen.abs_diff(median.0).saturating_sub(measured.resolution.0);
    ensure!(
        distance as f64 <= CLOSE * median.0 as f64,
        "{}: the median is {} ns, and {seen} ns with read lag to the observer",
        measured.name,
        median.0
    );
    Ok(())
}

/// The quantiles at which every request is logged on both sides.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];

/// Every quantile of what was observed is at most that of what a client logged of the same requests, of which some
/// may not have been observed: these may be the shortest.
pub(crate) fn at_most(
    name: &str,
    mut observed: Vec<u64>,
    mut logged: Vec<u64>,
    resolution: Nanoseconds,
) -> Result<()> {
    ensure!(!observed.is_empty() && observed.len() <= logged.len(), "{name}: {} exchanges", observed.len());
    observed.sort_unstable();
    logged.sort_unstable();
    let unseen = logged.len() - observed.len();
    let mut table = format!("{name}: {} exchanges of {}, in µs:\n", observed.len(), logged.len());
    writeln!(table, "{:>10} {:>14} {:>10}", "quantile", "logged", "observed")?;
    for quantile in QUANTILES {
        let at = rank(quantile, observed.len());
        let (seen, logged) = (observed[at], logged[at + unseen]);
        writeln!(table, "{quantile:>10} {:>14.1} {:>10.1}", logged as f64 / 1e3, seen as f64 / 1e3)?;
        ensure!(
            seen <= logged + resolution.0,
            "{name}: quantile {quantile} is {logged} ns, and {seen} ns to the observer"
        );
    }
    say(&table);
    Ok(())
}

/// There is an exchange for each of what is expected, or a counted reason: segments may arrive in an order that nobody
/// can follow. A gap takes all streams along that are open `at_once`, some of them because their requests were missed;
/// yet there is hardly one in a run, at either end.
pub(crate) fn accounted(
    recording: &Recording,
    exchanges: usize,
    expected: usize,
    at_once: usize,
) -> Result<()> {
    let left_out = recording.left_out()?;
    ensure!(exchanges <= expected, "{exchanges} exchanges, where {expected} are expected");
    let most = 2 * at_once;
    ensure!(exchanges + most >= expected, "only {exchanges} exchanges of {expected}: {left_out:?}");
    left_out.without("push", SETTINGS).are(&["overlapping", "started-before"], (expected - exchanges) as u64)
}

/// How often a server may say its SETTINGS before it hears the client's, as grpcio's does: nobody has asked for
/// that, at either end of a connection.
const SETTINGS: u64 = 2;

/// Where the server takes far longer than the client needs to write and read, the medians of both are close.
pub(crate) fn close(name: &str, mut observed: Vec<u64>, mut logged: Vec<u64>) -> Result<()> {
    observed.sort_unstable();
    logged.sort_unstable();
    let median = |values: &[u64]| values.get(rank(0.5, values.len())).copied().context("there are exchanges");
    let (seen, said) = (median(&observed)?, median(&logged)?);
    ensure!(
        seen.abs_diff(said) as f64 <= CLOSE * said as f64,
        "{name}: the median is {said} ns, and {seen} ns to the observer"
    );
    Ok(())
}

/// The place of a quantile among sorted values: the nearest rank.
fn rank(quantile: f64, length: usize) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a quantile lies between 0 and 1"
    )]
    let rank = (quantile * length as f64).ceil() as usize;
    rank.clamp(1, length.max(1)) - 1
}
