//! `observer man`: prints a manual page.

use anyhow::anyhow;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use super::{
    Cli,
    failure::{Failure, Status},
    output::Output,
};

/// Print the manual page of the program or of one of its commands, for man(1)
#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// The command; without it, the program as a whole
    command: Option<String>,
}

pub(super) fn run(arguments: &ManArguments) -> Result<Status, Failure> {
    let page = page(arguments.command.as_deref())?;
    let mut text = Vec::new();
    Man::new(page)
        .render(&mut text)
        .map_err(|error| Failure::Running(anyhow!("the manual page cannot be made: {error}")))?;
    Output::Standard.write(&String::from_utf8_lossy(&text))?;
    Ok(Status::Done)
}

fn page(name: Option<&str>) -> Result<Command, Failure> {
    let mut program = Cli::command();
    program.build();
    let Some(name) = name else { return Ok(program) };
    let command = program.find_subcommand(name).filter(|command| !command.is_hide_set());
    let command = command.ok_or_else(|| {
        Failure::Usage(anyhow!("there is no command '{name}'; 'observer --help' lists them all"))
    })?;
    Ok(command.clone())
}
