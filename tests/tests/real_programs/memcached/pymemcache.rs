//! pymemcache.

use std::{process::Stdio, thread};

use anyhow::{Context as _, Result, bail, ensure};
use observer_common::Nanoseconds;
use observer_tests::{
    observation::Observation,
    process::{Programs, succeed},
    python::python,
    skip::{all, skipped},
};

use super::Memcached;
use crate::{
    compare::{Measured, compare, quantiles_of},
    server::PATIENCE,
    told::tally,
};

/// One process each: threads would wait for each other's interpreter lock, which is no network latency. So many that
/// requests queue at the server, and the interpreter's own microseconds are a small part.
const CLIENTS: usize = 16;

#[test]
fn memcached_under_pymemcache() -> Result<()> {
    if skipped("memcached") || skipped("python") {
        return Ok(());
    }
    let requests = if all() { 8_000 } else { 1_200 };
    let memcached = Memcached::start()?;
    let number = memcached.port.to_string();
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &number])?;
    let logged = thread::scope(|scope| -> Result<Vec<u64>> {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| client(&number, requests))).collect();
        let mut logged = Vec::new();
        for client in clients {
            logged.extend(client.join().unwrap_or_else(|_| bail!("a client's thread panicked"))?);
        }
        Ok(logged)
    })?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");

    // A client connects, sends one command after another, each in one write, and closes without a word.
    let exchanges = recording.exchanges()?;
    ensure!(exchanges.iter().all(|exchange| exchange.outcome == "ok"), "a request without an answer");
    ensure!(
        exchanges.len() == logged.len() && logged.len() == CLIENTS * requests,
        "{} exchanges, and the clients log {} requests",
        exchanges.len(),
        logged.len()
    );
    let half = CLIENTS * requests / 2;
    let classes = [("get", half), ("set", half)].map(|(class, count)| ((class.into(), String::new()), count));
    ensure!(tally(&exchanges) == classes.into(), "{:?}", tally(&exchanges));
    let measured = Measured {
        name: "pymemcache",
        quantiles: quantiles_of(logged),
        resolution: Nanoseconds(0),
        expected_interval: None,
    };
    compare(&measured, &exchanges)
}

/// Runs one client and returns its latencies in nanoseconds.
fn client(port: &str, requests: usize) -> Result<Vec<u64>> {
    let printed = succeed(
        python()?
            .args(["-c", include_str!("pymemcache.py"), port, &requests.to_string()])
            .stdin(Stdio::null()),
        PATIENCE,
    )?;
    printed.lines().map(|line| line.parse().context("a latency")).collect()
}
