//! `cargo xtask test`: the tests, with everything set up that they need.

mod needs;
mod python;

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

/// What every cargo command here works on: everything but the probes, which need their own target.
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
    let cargo = |verb: &[&str]| {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(workspace.root()).args(verb).args(SELECTION);
        cargo
    };

    // The end-to-end tests start the programs that users start.
    command::run(cargo(&["build"]).arg("--bins"))?;
    command::run(cargo(&["test", "--quiet"]).arg("--doc"))?;
    if command::is_installed(vm::EMULATOR) {
        let kernels = if arguments.all { Kernel::ALL.as_slice() } else { &[Kernel::V6_1] };
        for kernel in kernels {
            vm::boot(workspace, *kernel)?;
        }
    } else {
        println!("skipped: tests on other kernels");
    }

    // Last, so that its summary is the last thing to be read.
    let nextest = command::is_installed("cargo-nextest");
    let mut tests = if nextest { cargo(&["nextest", "run"]) } else { cargo(&["test"]) };
    tests.env("OBSERVER_TEST_SKIP", skipped.names());
    if let Some(python) = python {
        tests.env("OBSERVER_TEST_PYTHON", python);
    }
    if arguments.all {
        tests.env("OBSERVER_TEST_LONG", "1");
    }
    if nextest {
        tests.arg("--no-fail-fast");
    } else {
        // Without nextest's groups, tests that observe the whole host would disturb each other.
        tests.args(["--all-targets", "--no-fail-fast", "--", "--test-threads=1"]);
    }
    command::run(&mut tests)
}
