//! redis-benchmark, alone and with pipelines.

use std::{collections::HashMap, process::Command};

use anyhow::{Context as _, Result, ensure};
use observer_common::{Nanoseconds, Timestamp};
use observer_tests::{
    observation::Observation,
    process::{Programs, succeed},
    recording::by_connection,
    skip::{all, skipped},
};

use super::Redis;
use crate::{
    compare::{Measured, compare},
    server::{PATIENCE, program},
};

const CONNECTIONS: usize = 50;

#[test]
fn redis_under_redis_benchmark() -> Result<()> {
    benchmark(1)
}

/// A sixteenth as many exchanges: the commands of one write, and all of their answers.
#[test]
fn redis_under_redis_benchmark_with_pipelines() -> Result<()> {
    benchmark(16)
}

/// Runs the benchmark with so many commands in one write.
fn benchmark(pipeline: usize) -> Result<()> {
    if skipped("redis") {
        return Ok(());
    }
    let exchanges: usize = if all() { 1_000_000 } else { 100_000 } / if pipeline == 1 { 1 } else { 10 };
    let requests = exchanges * pipeline;
    let redis = Redis::start()?;
    let port = redis.port.to_string();
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &port])?;
    let printed = succeed(
        Command::new(program("redis-benchmark")?)
            .args(["-h", "127.0.0.1", "-p", &port, "-t", "get", "--csv", "-P", &pipeline.to_string()])
            .args(["-c", &CONNECTIONS.to_string(), "-n", &requests.to_string()]),
        PATIENCE,
    )?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");

    // The first connection asks for the server's configuration (CONFIG GET, twice, in one write) and is closed. The
    // others send GET, as many as were asked for: a request counts when it is issued, and the benchmark ends when the
    // last one is answered, so that none is left waiting.
    let mut connections = by_connection(recording.exchanges()?);
    let first = *connections.iter().min_by_key(|(_, rows)| rows[0].start).context("there was traffic")?.0;
    let configuration = connections.remove(&first).context("the first connection")?;
    ensure!(configuration.len() == 1, "{} turns about the configuration", configuration.len());
    ensure!(configuration[0].class.as_deref() == Some("batch CONFIG"), "{configuration:?}");
    ensure!(connections.len() == CONNECTIONS, "{} connections", connections.len());
    let rows: Vec<_> = connections.into_values().flatten().collect();
    ensure!(rows.iter().all(|row| row.outcome == "ok" && !row.failed), "a request without an answer");
    ensure!(rows.len() == exchanges, "{} exchanges for {requests} requests", rows.len());
    ensure!(rows.iter().all(|row| row.start > Timestamp(0)), "every exchange has a start");
    // Of sixteen commands only the first few are kept, so that the class says that more may have followed.
    let class = if pipeline == 1 { "GET" } else { "batch GET…" };
    let other = rows.iter().find(|row| row.class.as_deref() != Some(class));
    ensure!(other.is_none(), "not {class}: {other:?}");
    compare(&measured(&printed)?, &rows)
}

/// Reads the benchmark's CSV: milliseconds, under a header that names the columns.
fn measured(printed: &str) -> Result<Measured> {
    let mut lines = printed.lines().map(|line| line.split(',').map(|cell| cell.trim_matches('"')));
    let header = lines.next().context("redis-benchmark prints a header")?;
    let row = lines.next().context("redis-benchmark prints a row")?;
    let cells: HashMap<&str, &str> = header.zip(row).collect();
    let quantile = |quantile: f64, column: &str| -> Result<(f64, Nanoseconds)> {
        let cell = cells.get(column).with_context(|| format!("redis-benchmark prints {column}"))?;
        let milliseconds: f64 = cell.parse()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time, and not a long one"
        )]
        Ok((quantile, Nanoseconds((milliseconds * 1e6).round() as u64)))
    };
    Ok(Measured {
        name: "redis-benchmark",
        quantiles: vec![
            quantile(0.5, "p50_latency_ms")?,
            quantile(0.95, "p95_latency_ms")?,
            quantile(0.99, "p99_latency_ms")?,
            quantile(1.0, "max_latency_ms")?,
        ],
        // Two readings of a clock of whole microseconds.
        resolution: Nanoseconds(1_000),
        expected_interval: None,
    })
}
