//! How long an assessment takes.

use std::{ffi::OsString, fs, path::Path, process::Command};

use anyhow::{Context as _, Result};

use crate::{command, workspace::Workspace};

/// Prints the time that assessing 100,000 exchanges of one service takes on one core, for each of the services that the
/// program knows, and the instructions of all of them.
pub(super) fn speed(workspace: &Workspace) -> Result<()> {
    let program = workspace.program("accuracy");
    let took = command::output(
        Command::new("taskset").args(["--cpu-list", "0"]).arg(&program).args(["--speed", "21"]),
    )?;
    for line in took.lines() {
        let (name, milliseconds) = line.split_once(' ').context("a line has a name and a time")?;
        let (what, took) =
            (format!("assess: 100,000 exchanges, one core: {name}"), format!("{milliseconds} ms"));
        println!("{what:<62} {took:>28}  ≤ 50 ms");
    }
    let mut counts = [0.0; 2];
    for (times, count) in (1..).zip(&mut counts) {
        *count = instructions(&program, times)?;
    }
    let instructions = format!("{:.0} million", (counts[1] - counts[0]) / 1e6);
    println!("{:<62} {instructions:>28}", "assess: instructions of these");
    Ok(())
}

/// What callgrind counts, which it writes to a file: `Collected : 123`.
fn instructions(program: &Path, times: u32) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("callgrind.log");
    let mut option = OsString::from("--log-file=");
    option.push(&log);
    command::output(
        Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(option)
            .arg(program)
            .args(["--speed", &times.to_string()]),
    )?;
    let said = fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))?;
    let count = said.lines().find_map(|line| line.split_once("Collected :")).map(|(_, count)| count.trim());
    count.and_then(|count| count.parse().ok()).context("valgrind counted no instructions")
}
