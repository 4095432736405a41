//! pgbench, with its log of every transaction.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result, ensure};
use observer_common::Nanoseconds;
use observer_tests::{
    recording::{Observed, by_connection},
    skip::{all, skipped},
};

use super::Postgres;
use crate::{
    compare::{Measured, compare, quantiles_of},
    told::tally,
};

const CLIENTS: usize = 8;

/// One way to run transactions.
struct Way {
    /// The protocol, as pgbench calls it.
    mode: &'static str,
    script: Option<&'static str>,
    /// The class of a transaction's one turn.
    class: &'static str,
    /// How many statements each client prepares first.
    prepares: usize,
}

/// Two statements in one turn.
const PIPELINE: &str = "\\set aid random(1, 100000)
\\startpipeline
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
\\endpipeline
";

const WAYS: [Way; 5] = [
    Way { mode: "simple", script: None, class: "SELECT pgbench_accounts", prepares: 0 },
    Way { mode: "extended", script: None, class: "SELECT pgbench_accounts", prepares: 0 },
    Way { mode: "prepared", script: None, class: "SELECT pgbench_accounts", prepares: 1 },
    // What is kept of it ends before the second statement.
    Way { mode: "extended", script: Some(PIPELINE), class: "SELECT pgbench_accounts…", prepares: 0 },
    Way { mode: "prepared", script: Some(PIPELINE), class: "batch", prepares: 2 },
];

#[test]
fn postgresql_under_pgbench() -> Result<()> {
    if skipped("postgresql") {
        return Ok(());
    }
    let transactions = if all() { 50_000 } else { 500 };
    let postgres = Postgres::start()?;
    postgres.client("pgbench", &["--initialize", "--quiet", "--scale=1"])?;
    for (index, way) in WAYS.iter().enumerate() {
        let prefix = postgres.directory.path().join(format!("log-{index}"));
        run(&postgres, way, transactions, &prefix).with_context(|| format!("in the mode {}", way.mode))?;
    }
    Ok(())
}

fn run(postgres: &Postgres, way: &Way, transactions: usize, prefix: &Path) -> Result<()> {
    let script = postgres.directory.path().join("script");
    let mut arguments = vec![
        "--no-vacuum".to_owned(),
        format!("--protocol={}", way.mode),
        "--log".to_owned(),
        format!("--log-prefix={}", prefix.display()),
        format!("--client={CLIENTS}"),
        format!("--transactions={transactions}"),
    ];
    match way.script {
        Some(text) => {
            fs::write(&script, text)?;
            arguments.push(format!("--file={}", script.display()));
        }
        None => arguments.push("--select-only".to_owned()),
    }
    let observation = postgres.observe()?;
    postgres.client("pgbench", &arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");

    // A connection without encryption and password has one turn to start up (StartupMessage, then everything up to
    // ReadyForQuery), and at its end the client says Terminate, which has no answer. A transaction is one turn: one
    // statement, or one pipeline, then everything up to ReadyForQuery. Before it begins, pgbench looks at its tables
    // over a connection of its own.
    let (handshakes, farewells) = (recording.unpaired("handshake")?, recording.unpaired("unanswered")?);
    let connections = CLIENTS as u64 + 1;
    ensure!(
        (handshakes, farewells) == (connections, connections),
        "{handshakes} handshakes and {farewells} farewells"
    );
    let mut exchanges = Vec::new();
    let of_client = [("PREPARE", way.prepares), (way.class, transactions)]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| ((class.to_owned(), String::new()), count))
        .collect::<BTreeMap<_, _>>();
    let mut clients = 0;
    for rows in by_connection(recording.exchanges()?).into_values() {
        ensure!(rows.iter().all(|row| row.outcome == "ok" && !row.failed), "a statement without an answer");
        let classes = tally(&rows);
        if classes.keys().any(|(class, _)| class == "SELECT pgbench_branches") {
            ensure!(way.script.is_none() && rows.len() == 2, "pgbench looks at its tables: {classes:?}");
        } else {
            ensure!(classes == of_client, "{classes:?} instead of {of_client:?}");
            clients += 1;
            exchanges.extend(rows.into_iter().skip(way.prepares));
        }
    }
    ensure!(clients == CLIENTS, "{clients} clients");
    let logged = logged(prefix)?;
    ensure!(
        exchanges.len() == logged.len() && logged.len() == CLIENTS * transactions,
        "{} exchanges, and pgbench logs {} transactions",
        exchanges.len(),
        logged.len()
    );
    compare_with(logged, &exchanges)
}

fn compare_with(logged: Vec<u64>, exchanges: &[Observed]) -> Result<()> {
    let measured = Measured {
        name: "pgbench",
        quantiles: quantiles_of(logged),
        // Two readings of a clock of whole microseconds.
        resolution: Nanoseconds(1_000),
        expected_interval: None,
    };
    compare(&measured, exchanges)
}

/// Every transaction's latency, from the log's third column, in microseconds.
fn logged(prefix: &Path) -> Result<Vec<u64>> {
    let name = prefix.file_name().context("a prefix has a name")?.to_string_lossy().into_owned();
    let mut latencies = Vec::new();
    for entry in fs::read_dir(prefix.parent().context("a prefix has a directory")?)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&format!("{name}.")) {
            for line in fs::read_to_string(entry.path())?.lines() {
                let microseconds = line.split(' ').nth(2).context("a transaction has a latency")?;
                latencies.push(microseconds.parse::<u64>()? * 1_000);
            }
        }
    }
    Ok(latencies)
}
