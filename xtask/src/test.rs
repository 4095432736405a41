//! `cargo xtask test`: the tests, with everything set up that they need.

mod needs;
pub(crate) mod python;

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

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let mut skipped = needs::provide()?;
    let python = match python::environment(workspace) {
        Ok(python) => Some(python),
        Err(missing) => {
            skipped.add("python", &missing)?;
            None
        }
    };

    workspace.build_programs()?;
    command::run(workspace.cargo(&["test"]).args(["--quiet", "--doc"]))?;
    if command::is_installed(vm::EMULATOR) {
        let kernels = if arguments.all { Kernel::ALL.as_slice() } else { &[Kernel::V6_1] };
        for kernel in kernels {
            vm::boot(workspace, *kernel)?;
        }
    }

    // Last, so that its summary is the last thing to be read.
    let nextest = command::is_installed("cargo-nextest");
    let mut tests = workspace.cargo(if nextest { &["nextest", "run"] } else { &["test"] });
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
