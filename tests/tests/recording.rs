//! A recording is what other programs can read, and what the report would have said.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use observer_tests::{
    nesting::{Family, Group, Plan, traffic},
    observation::{Observation, wait_until_observing},
    process::{Lines, Programs, Running, output, succeed},
    python::python,
    recording::Observed,
    skip::skipped,
    transport::Io,
};
use rustix::process::Signal;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_mins(1);

/// Two clients with two servers.
fn plan() -> Plan {
    let group = |family| Group {
        client: Io::Blocking,
        server: Io::Blocking,
        family,
        connections: 4,
        requests: 1_000,
        large: 0,
        quick: true,
    };
    Plan { groups: vec![group(Family::V4), group(Family::V6)] }
}

#[test]
fn duckdb_reads_every_row() -> Result<()> {
    if skipped("python") {
        return Ok(());
    }
    let programs = Programs::beside_tests()?;
    let observation = Observation::start(&programs, &["--role", "client"])?;
    let logs = traffic(&programs, &plan())?;
    let recording = observation.finish()?;
    let rows = recording.exchanges()?;
    ensure!(rows.len() >= logs.client.len(), "{} rows for {} requests", rows.len(), logs.client.len());
    let query = "import duckdb, sys; \
        print(duckdb.execute('select count(*) from read_parquet(?)', [sys.argv[1]]).fetchone()[0])";
    let counted = succeed(python()?.args(["-c", query]).arg(recording.path()), PATIENCE)?;
    ensure!(counted.trim() == rows.len().to_string(), "DuckDB counts {counted} rows, not {}", rows.len());

    // The same rows as CSV, written by somebody else, give the same services.
    let csv = recording.directory().join("recording.csv");
    let copy = "import duckdb, sys; \
        duckdb.execute(f\"copy (from read_parquet('{sys.argv[1]}')) to '{sys.argv[2]}' (header)\")";
    succeed(python()?.args(["-c", copy]).arg(recording.path()).arg(&csv), PATIENCE)?;
    let analyzed =
        succeed(Command::new(&programs.observer).arg("analyze").arg(&csv).arg("--json"), PATIENCE)?;
    let from_csv: Value = serde_json::from_str(&analyzed)?;
    let from_parquet = recording.report()?;
    ensure!(instances(&from_csv)? == instances(&from_parquet)?, "CSV and Parquet disagree");
    Ok(())
}

#[test]
fn the_analysis_of_a_recording_fits_the_schema_and_the_rows() -> Result<()> {
    let programs = Programs::beside_tests()?;
    let observation = Observation::start(&programs, &["--role", "client"])?;
    traffic(&programs, &plan())?;
    let recording = observation.finish()?;
    let report = recording.report()?;
    let schema = succeed(Command::new(&programs.observer).args(["schema", "report"]), PATIENCE)?;
    let schema = serde_json::from_str(&schema)?;
    let validator = jsonschema::validator_for(&schema).context("the published schema is a schema")?;
    let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    ensure!(errors.is_empty(), "the report does not fit its schema: {errors:?}");

    let mut by_instance: BTreeMap<String, Vec<Observed>> = BTreeMap::new();
    for row in recording.exchanges()? {
        by_instance.entry(row.instance.clone()).or_default().push(row);
    }
    let counts: BTreeMap<String, u64> =
        by_instance.iter().map(|(instance, rows)| (instance.clone(), rows.len() as u64)).collect();
    ensure!(
        instances(&report)? == counts,
        "the report counts {:?}, the rows {counts:?}",
        instances(&report)?
    );
    Ok(())
}

#[test]
fn report_and_analysis_agree() -> Result<()> {
    let programs = Programs::beside_tests()?;
    let mut reporting = Running::start(
        Command::new(&programs.observer)
            .args(["report", "--duration", "10m", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    )?;
    let mut messages = Lines::of(reporting.child().stderr.take().context("standard error is piped")?);
    let mut printed = Lines::of(reporting.child().stdout.take().context("standard output is piped")?);
    wait_until_observing(&mut messages)?;
    let observation = Observation::start(&programs, &["--role", "client"])?;
    let logs = traffic(&programs, &plan())?;
    let recording = observation.finish()?;
    reporting.signal(Signal::INT)?;
    reporting.succeed(PATIENCE)?;
    let live: Value = serde_json::from_str(&printed.seen().join("\n")).context("the report is JSON")?;
    let analyzed = recording.report()?;

    // Both watched the whole of our traffic; what else is on this host differs with their windows.
    let (live, analyzed) = (instances(&live)?, instances(&analyzed)?);
    let connections: HashSet<u64> = logs.client.iter().map(|entry| entry.connection).collect();
    let ours: BTreeSet<String> = recording
        .exchanges()?
        .into_iter()
        .filter(|row| connections.contains(&row.connection))
        .map(|row| row.instance)
        .collect();
    ensure!(ours.len() == 2, "two servers answered, and {ours:?} were recorded");
    for instance in ours {
        let counts = (live.get(&instance), analyzed.get(&instance));
        ensure!(counts == (Some(&4_000), Some(&4_000)), "{instance}: {counts:?} exchanges instead of 4000");
    }
    Ok(())
}

#[test]
fn a_recording_ends_by_itself_and_appears_complete() -> Result<()> {
    let programs = Programs::beside_tests()?;
    let directory = tempfile::TempDir::new()?;
    for name in ["a.parquet", "a.csv"] {
        let path = directory.path().join(name);
        let (_, errors, status) = output(
            Command::new(&programs.observer).args(["record", "--duration", "1s", "-o"]).arg(&path),
            PATIENCE,
        )?;
        ensure!(status.success(), "{status}: {errors}");
        let analyzed =
            succeed(Command::new(&programs.observer).arg("analyze").arg(&path).arg("--json"), PATIENCE)?;
        serde_json::from_str::<Value>(&analyzed)?;
    }
    let left: Vec<_> = std::fs::read_dir(directory.path())?.collect::<Result<_, _>>()?;
    ensure!(left.len() == 2, "more than the two recordings was left behind: {left:?}");
    Ok(())
}

/// How many exchanges a report gives each instance.
fn instances(report: &Value) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    for service in report["services"].as_array().context("a report has services")? {
        for instance in service["instances"].as_array().context("a service has instances")? {
            let (Some(address), Some(exchanges)) =
                (instance["address"].as_str(), instance["exchanges"].as_u64())
            else {
                bail!("an instance has an address and a number of exchanges: {instance}");
            };
            *counts.entry(address.to_owned()).or_default() += exchanges;
        }
    }
    Ok(counts)
}

#[test]
fn quiet_is_quiet() -> Result<()> {
    let mut command = Command::new(Programs::beside_tests()?.observer);
    let (_, errors, status) = output(command.args(["report", "--quiet", "--duration", "100ms"]), PATIENCE)?;
    ensure!(status.success() && errors.is_empty(), "{status}: {errors}");
    Ok(())
}
