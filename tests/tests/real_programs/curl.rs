//! curl, with many requests at once: its own times of each.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use observer_common::Nanoseconds;
use observer_tests::{
    observation::Observation,
    process::{Programs, succeed},
    recording::Observed,
    skip::all,
    span::Span,
};

use crate::{
    compare::at_most,
    server::{PATIENCE, free_port, program},
    web::{Nginx, any_skipped},
};

/// By how much curl's times may fall short: they are in whole microseconds.
const RESOLUTION: Nanoseconds = Nanoseconds(1_000);

/// What curl says about a transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) status: u16,
    /// From before it began until all of it was there, connecting included. What else curl tells is no bound: when
    /// it begins to wait it may have sent long before, and of an upload it takes the first byte for that of the answer.
    pub(crate) total: Nanoseconds,
}

/// Runs curl and returns what it says about each transfer.
pub(crate) fn curl(arguments: &[&str]) -> Result<Vec<Transfer>> {
    let format = "%{http_code} %{time_total}\n";
    let printed = succeed(
        Command::new(program("curl")?)
            .args(["--silent", "--insecure", "--output", "/dev/null", "--write-out", format])
            .args(arguments),
        PATIENCE,
    )?;
    printed.lines().map(transfer).collect()
}

fn transfer(line: &str) -> Result<Transfer> {
    let (status, total) =
        line.split_once(' ').with_context(|| format!("curl prints two numbers, not {line}"))?;
    Ok(Transfer { status: status.parse()?, total: Nanoseconds(1_000 * microseconds(total)?) })
}

/// Seconds with six decimals.
fn microseconds(text: &str) -> Result<u64> {
    let (seconds, decimals) = text.split_once('.').context("a time has decimals")?;
    ensure!(decimals.len() == 6, "{text} is not in microseconds");
    Ok(seconds.parse::<u64>()? * 1_000_000 + decimals.parse::<u64>()?)
}

#[test]
fn http1_in_parallel() -> Result<()> {
    let requests = if all() { 3_000 } else { 600 };
    in_parallel("", "http1", &["--http1.1", "--parallel-max", "20"], requests)
}

/// As many connections as requests: this curl cannot reuse one to which it spoke HTTP/2 without being asked to
/// change over.
#[test]
fn http2_in_parallel() -> Result<()> {
    in_parallel("http2", "http2", &["--http2-prior-knowledge", "--parallel-max", "200"], 200)
}

fn in_parallel(listen: &str, protocol: &str, arguments: &[&str], requests: usize) -> Result<()> {
    if any_skipped(&["nginx", "curl"]) {
        return Ok(());
    }
    let port = free_port()?;
    let server =
        format!("server {{ listen 127.0.0.1:{port} {listen}; location / {{ return 200 'hello'; }} }}");
    let _nginx = Nginx::start(port, &server, &[])?;
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &port.to_string()])?;
    let url = format!("http://127.0.0.1:{port}/items/[1-{requests}]");
    let transfers = curl(&[&["--parallel", "--parallel-immediate"], arguments, &[&url]].concat())?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    recording.left_out()?.are(&[], 0)?;
    ensure!(
        transfers.len() == requests && transfers.iter().all(|transfer| transfer.status == 200),
        "curl did not get what it asked for"
    );

    let exchanges = recording.exchanges()?;
    ensure!(exchanges.len() == requests, "{} exchanges for {requests} requests", exchanges.len());
    for row in &exchanges {
        ensure!(
            row.outcome == "ok"
                && row.protocol.as_deref() == Some(protocol)
                && row.class.as_deref() == Some("GET /items/{n}")
                && row.status.as_deref() == Some("200")
                && row.comm.as_deref() == Some("curl"),
            "not what curl asked for: {row:?}"
        );
    }
    compare(&format!("curl --parallel, {protocol}"), &exchanges, &transfers)
}

/// No quantile of what was observed is above what curl says.
pub(crate) fn compare(name: &str, exchanges: &[Observed], transfers: &[Transfer]) -> Result<()> {
    at_most(
        name,
        exchanges.iter().map(|row| Span::to_last_byte(row).length()).collect(),
        transfers.iter().map(|transfer| transfer.total.0).collect(),
        RESOLUTION,
    )
}
