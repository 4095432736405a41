//! nginx under wrk.

use std::{collections::HashMap, process::Command};

use anyhow::{Context as _, Result, ensure};
use observer_common::Nanoseconds;
use observer_tests::{
    observation::Observation,
    process::{Programs, succeed},
    recording::{Observed, by_connection},
    skip::{all, skipped},
};

use crate::{
    compare::{Measured, compare},
    server::{PATIENCE, free_port, program},
    web::Nginx,
};

const CONNECTIONS: usize = 16;

#[test]
fn nginx_under_wrk() -> Result<()> {
    if skipped("nginx") {
        return Ok(());
    }
    let port = free_port()?;
    let server = format!("server {{ listen 127.0.0.1:{port}; location / {{ return 200 'hello'; }} }}");
    let _nginx = Nginx::start(port, &server, &[])?;
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &port.to_string()])?;
    let printed = succeed(
        Command::new(program("wrk")?)
            .args(["--threads", "1", "--latency", "--connections", &CONNECTIONS.to_string()])
            .args(["--duration", if all() { "30s" } else { "4s" }, &format!("http://127.0.0.1:{port}/")]),
        PATIENCE,
    )?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");

    // When its time is over wrk stops where it is and closes its connections. On each the last request may be
    // under way: its response has not come (cancelled, or reset by nginx), or it has come and was never read.
    // All others were read, and wrk counts what it has read.
    let mut connections = by_connection(recording.exchanges()?);
    ensure!(connections.len() == CONNECTIONS, "{} connections", connections.len());
    for rows in connections.values_mut() {
        rows.pop_if(|last| last.outcome != "ok" || last.read_lag.is_none());
    }
    let exchanges: Vec<Observed> = connections.into_values().flatten().collect();
    ensure!(exchanges.iter().all(|exchange| exchange.outcome == "ok"), "a request without an answer");
    let counted = requests(&printed)?;
    ensure!(exchanges.len() == counted, "{} exchanges, and wrk counts {counted}: {printed}", exchanges.len());
    compare(&measured(&printed)?, &exchanges)
}

/// The line `123456 requests in 4.00s, 12.34MB read`.
fn summary(printed: &str) -> Result<&str> {
    printed.lines().find(|line| line.contains(" requests in ")).context("wrk counts requests")
}

fn requests(printed: &str) -> Result<usize> {
    Ok(summary(printed)?.split_whitespace().next().context("a number of requests")?.parse()?)
}

/// From the lines `50%  123.00us` and so on.
fn measured(printed: &str) -> Result<Measured> {
    let cells: HashMap<&str, &str> = printed
        .lines()
        .filter_map(|line| line.trim().split_once('%'))
        .map(|(quantile, value)| (quantile, value.trim()))
        .collect();
    let mut quantiles = Vec::new();
    for (quantile, name) in [(0.5, "50"), (0.75, "75"), (0.9, "90"), (0.99, "99")] {
        quantiles.push((quantile, duration(cells.get(name).context("wrk prints quantiles")?)?));
    }
    // Two readings of a clock of whole microseconds, and two decimals: of milliseconds, where it comes to those.
    let in_milliseconds = quantiles.iter().any(|(_, value)| value.0 >= 1_000_000);
    let resolution = Nanoseconds(if in_milliseconds { 6_000 } else { 1_000 });
    // wrk corrects what it prints: it takes a connection's mean time between responses for the interval at which it
    // should have sent.
    let line = summary(printed)?;
    let runtime =
        duration(line.split_whitespace().nth(3).context("wrk says how long it ran")?.trim_end_matches(','))?;
    let interval = runtime.0 / (requests(printed)? / CONNECTIONS) as u64;
    Ok(Measured { name: "wrk", quantiles, resolution, expected_interval: Some(Nanoseconds(interval)) })
}

fn duration(text: &str) -> Result<Nanoseconds> {
    let at = text.find(|letter: char| letter.is_ascii_alphabetic()).context("a duration has a unit")?;
    let unit = match &text[at..] {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        other => anyhow::bail!("an unknown unit {other}"),
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, and not a long one")]
    Ok(Nanoseconds((text[..at].parse::<f64>()? * unit).round() as u64))
}
