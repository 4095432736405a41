//! Connections of HTTP/2 that are older than the observer, and busy while it starts.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use observer_tests::{
    observation::Observation,
    process::{Programs, Running},
};
use tempfile::TempDir;

use crate::{
    server::{PATIENCE, free_port, program},
    web::{Nginx, any_skipped},
};

const CONNECTIONS: usize = 10;

/// So many requests a second on each connection.
const RATES: [&str; 2] = ["20", "200"];

#[test]
fn connections_that_are_busy_while_observation_starts_are_measured() -> Result<()> {
    if any_skipped(&["nginx", "h2load"]) {
        return Ok(());
    }
    for rate in RATES {
        busy(rate)?;
    }
    Ok(())
}

fn busy(rate: &str) -> Result<()> {
    let directory = TempDir::new()?;
    let log = directory.path().join("log");
    let port = free_port()?;
    let servers = format!(
        "log_format connections '$connection';
        server {{
            listen 127.0.0.1:{port} http2;
            access_log {} connections;
            location / {{ return 200 'hello'; }}
        }}",
        log.display()
    );
    let _nginx = Nginx::start(port, &servers, &[])?;
    let _load = Running::start(
        Command::new(program("h2load")?)
            .args(["-c", &CONNECTIONS.to_string(), "-m", "1", "--duration", "600", "--rps", rate])
            .arg(format!("http://127.0.0.1:{port}/"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )?;
    answered_further(&log, 3)?;
    let observation =
        Observation::start(&Programs::beside_tests()?, &["--role", "both", "--port", &port.to_string()])?;
    answered_further(&log, 5)?;
    let recording = observation.finish()?;
    let exchanges = recording.exchanges()?;
    for role in ["client", "server"] {
        let measured: HashSet<u64> = exchanges
            .iter()
            .filter(|exchange| exchange.role == role && exchange.outcome == "ok")
            .map(|exchange| exchange.connection)
            .collect();
        ensure!(
            measured.len() == CONNECTIONS,
            "{rate} requests a second: {} connections of {CONNECTIONS} are measured as {role}, {} records were lost",
            measured.len(),
            recording.lost()?
        );
    }
    Ok(())
}

/// Waits until the server has answered so many more requests on each connection.
fn answered_further(log: &Path, requests: usize) -> Result<()> {
    let before = answered(log);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let now = answered(log);
        let further = |connection: &String| now[connection] - before.get(connection).copied().unwrap_or(0);
        if now.len() == CONNECTIONS && now.keys().all(|connection| further(connection) >= requests) {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("the server does not answer on {CONNECTIONS} connections: {now:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// How many requests were answered, by connection.
fn answered(log: &Path) -> BTreeMap<String, usize> {
    let mut answered = BTreeMap::new();
    for line in fs::read_to_string(log).unwrap_or_default().split_inclusive('\n') {
        if let Some(connection) = line.strip_suffix('\n') {
            *answered.entry(connection.to_owned()).or_default() += 1;
        }
    }
    answered
}
