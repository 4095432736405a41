//! `observer completions`: prints a completion script.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{
    Cli,
    failure::{Failure, Status},
    output::Output,
};

/// Print a completion script for a shell
#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &CompletionsArguments) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "observer", &mut script);
    Output::Standard.write(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}
