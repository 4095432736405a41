//! `cargo xtask test`: the tests, with everything set up that they need.

mod needs;
pub(crate) mod python;

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::{
    command,
    vm::{self, Kernel},
    workspace::Workspace,
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Run everything: the long tests, and all kernels
    #[arg(long)]
    all: bool,
}

/// What every cargo command here works on: everything but the probes, which need a target of their own.
const SELECTION: [&str; 4] = ["--release", "--workspace", "--exclude", "observer-ebpf"];

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut skipped = needs::provide()?;
    let python = match python::environment(workspace) {
        Ok(python) => Some(python),
        Err(missing) => {
            skipped.add("python", &missing)?;
            None
        }
    };

    // The end-to-end tests start the programs that users start.
    command::run(cargo(workspace, &["build"]).arg("--bins"))?;
    command::run(cargo(workspace, &["test"]).args(["--quiet", "--doc"]))?;
    if command::is_installed(vm::EMULATOR) {
        let kernels = if arguments.all { Kernel::ALL.as_slice() } else { &[Kernel::V6_1] };
        for kernel in kernels {
            vm::boot(workspace, *kernel)?;
        }
    }

    // Last, so that its summary is the last thing to be read.
    let nextest = command::is_installed("cargo-nextest");
    let mut tests = if nextest { cargo(workspace, &["nextest", "run"]) } else { cargo(workspace, &["test"]) };
    if !skipped.end_to_end() {
        tests.args(["--exclude", "observer-tests"]);
    }
    tests.env("OBSERVER_TEST_SKIP", skipped.names());
    if let Some(python) = python {
        tests.env("OBSERVER_TEST_PYTHON", python);
    }
    if arguments.all {
        tests.env("OBSERVER_TEST_ALL", "1");
    }
    if !nextest {
        // What the end-to-end tests attach sees the whole host. Nextest is told so by its configuration.
        tests.args(["--all-targets", "--no-fail-fast", "--", "--test-threads=1"]);
    }
    command::run(&mut tests)
}

fn cargo(workspace: &Workspace, verb: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace.root()).args(verb).args(SELECTION);
    cargo
}
