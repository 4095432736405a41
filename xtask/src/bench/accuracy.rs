//! How often the verdict and the advice are right.

use std::{ffi::OsString, process::Command};

use anyhow::Result;
use clap::Args;

use crate::{command, workspace::Workspace};

#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// As the program says with `--help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Builds the program that knows, which most tasks do without, and starts it.
pub(super) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    workspace.build_programs()?;
    command::run(
        Command::new(workspace.program("accuracy")).current_dir(workspace.root()).args(&arguments.arguments),
    )
}
