//! The Python interpreter that has the client libraries of the tests.

use std::{env, process::Command};

use anyhow::{Context as _, Result};

/// A command that runs the interpreter that `OBSERVER_TEST_PYTHON` names.
pub fn python() -> Result<Command> {
    let interpreter = env::var_os("OBSERVER_TEST_PYTHON")
        .context("OBSERVER_TEST_PYTHON names no interpreter: run the tests with `cargo xtask test`")?;
    Ok(Command::new(interpreter))
}
