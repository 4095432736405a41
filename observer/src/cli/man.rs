//! `observer man`: prints a manual page.

use std::io::{self, Write};

use anyhow::anyhow;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use super::{
    Cli, EXIT_CODES,
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
    let command = command(arguments.command.as_deref())?;
    let page = render(&Man::new(command))
        .map_err(|error| Failure::Running(anyhow!("the manual page cannot be made: {error}")))?;
    Output::Standard.write(&String::from_utf8_lossy(&page))?;
    Ok(Status::Done)
}

fn render(man: &Man) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    man.render_subcommands_section(&mut page)?;
    writeln!(page, ".SH \"EXIT STATUS\"")?;
    for (code, meaning) in EXIT_CODES {
        writeln!(page, ".TP\n\\fB{code}\\fR\n{}", meaning.replace('-', "\\-"))?;
    }
    Ok(page)
}

fn command(name: Option<&str>) -> Result<Command, Failure> {
    let mut program = Cli::command();
    program.build();
    let Some(name) = name else { return Ok(program) };
    let command = program.find_subcommand(name).filter(|command| !command.is_hide_set());
    let command = command.ok_or_else(|| {
        Failure::Usage(anyhow!("there is no command '{name}'; 'observer --help' lists them all"))
    })?;
    Ok(command.clone())
}
