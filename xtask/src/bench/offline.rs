//! How long a large recording takes to become a report.

use std::{process::Command, time::Instant};

use anyhow::{Context as _, Result};

use crate::{command, test::python, workspace::Workspace};

/// Ten million exchanges at three instances, written by a program that is not ours.
const RECORDING: &str = "
import duckdb, sys
duckdb.sql('''
    COPY (
        SELECT (i * 1000)::UBIGINT AS start_ns,
               'bench' AS service,
               '192.0.2.' || (i % 3 + 1) || ':80' AS instance,
               (100000 + hash(i) % 900000)::UBIGINT AS latency_ns,
               'ok' AS outcome,
               (i % 64)::UBIGINT AS connection
        FROM range(10000000) AS numbers(i)
    ) TO $path (FORMAT parquet)
''', params={'path': sys.argv[1]})
";

/// Prints how long one core takes for it.
pub(super) fn analysis(workspace: &Workspace) -> Result<()> {
    let python = python::environment(workspace)?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let recording = folder.path().join("ten-million.parquet");
    command::output(Command::new(python).args(["-c", RECORDING]).arg(&recording))?;
    let start = Instant::now();
    command::output(
        Command::new("taskset")
            .args(["--cpu-list", "0"])
            .arg(workspace.program("observer"))
            .args(["--quiet", "analyze", "--json"])
            .arg(&recording),
    )?;
    let seconds = format!("{:.1} s", start.elapsed().as_secs_f64());
    println!("{:<62} {seconds:>28}  ≤ 5 s", "analysis of 10 million exchanges in Parquet, one core");
    Ok(())
}
