//! The Python programs that the tests compare with.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context as _, Result};

use crate::{apt, command, workspace::Workspace};

/// Packages from `PyPI`: what reads recordings in the wild, and clients whose latencies are their own.
const PACKAGES: [&str; 4] = ["duckdb", "grpcio", "mysql-connector-python", "pymemcache"];

/// The interpreter of a virtual environment with everything in it, made if it is not there.
pub(crate) fn environment(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target().join("python");
    let python = folder.join("bin/python3");
    let complete = folder.join("complete");
    if fs::read_to_string(&complete).is_ok_and(|found| found == PACKAGES.join(" ")) {
        return Ok(python);
    }
    if command::output(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_err() {
        apt::install(&["python3-venv"])?;
    }
    command::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    command::run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
    fs::write(&complete, PACKAGES.join(" "))
        .with_context(|| format!("cannot write {}", complete.display()))?;
    Ok(python)
}
