//! The command line: one command a file.

mod analyze;
mod arguments;
mod collected;
mod completions;
mod console;
mod demo;
mod doctor;
mod duration;
mod failure;
mod input;
mod interrupt;
mod live;
mod man;
mod number;
mod output;
mod question;
mod record;
mod report;
mod schema;
mod simulate;

use std::{
    io::{self, IsTerminal, Write as _},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use self::{
    arguments::{ColorChoice, GlobalArguments},
    console::Console,
    failure::{Failure, Status},
};
use crate::report::text::Color;

/// What exit codes mean.
const EXIT_CODES: [(u8, &str); 6] = [
    (0, "done"),
    (1, "failed while running"),
    (2, "wrong usage or input"),
    (3, "this host cannot be observed (privilege, kernel)"),
    (4, "something could not be observed or was lost, and --strict was given"),
    (130, "interrupted twice"),
];

fn exit_codes() -> String {
    let lines = EXIT_CODES.map(|(code, meaning)| format!("  {code:<3}  {meaning}"));
    format!("Exit codes:\n{}", lines.join("\n"))
}

/// Watches, from the kernel, the latency of every request that processes on this host send to their backends
#[derive(Debug, Parser)]
#[command(
    name = "observer",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_long_help = exit_codes()
)]
struct Cli {
    #[command(flatten)]
    global: GlobalArguments,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Report(report::ReportArguments),
    Record(record::RecordArguments),
    Analyze(analyze::AnalyzeArguments),
    Simulate(simulate::SimulateArguments),
    Demo(demo::DemoArguments),
    Doctor(doctor::DoctorArguments),
    Schema(schema::SchemaArguments),
    Completions(completions::CompletionsArguments),
    Man(man::ManArguments),
    /// The same as --help, of the program or of a command
    #[command(hide = true)]
    Help {
        /// The command; without it, the program as a whole
        command: Option<String>,
    },
    /// One of the demo's processes, for 'observer demo' alone
    #[command(name = crate::demo::PART_COMMAND, hide = true)]
    DemoPart(demo::PartArguments),
}

impl Cli {
    /// Itself, unless it asks for help: 'help analyze' is 'analyze --help'. The one that clap has would stand in
    /// the manual page as a command with a page of its own.
    fn or_help(self) -> Result<Self, clap::Error> {
        match &self.command {
            Command::Help { command } => {
                let flag = Some("--help");
                Self::try_parse_from(Some("observer").into_iter().chain(command.as_deref()).chain(flag))
            }
            _ => Ok(self),
        }
    }
}

/// What every command is given.
#[derive(Debug)]
struct Context {
    console: Console,
    color: ColorChoice,
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse().and_then(Cli::or_help) {
        Ok(cli) => cli,
        Err(said) => return tell(&said),
    };
    log_to_standard_error(&cli.global);
    let mut context = Context { console: Console::new(cli.global.quiet), color: cli.global.color };
    match run(&cli.command, &mut context) {
        Ok(status) => status.into(),
        Err(failure) => {
            if let Some(message) = failure.message() {
                context.console.error(&message);
            }
            failure.exit_code()
        }
    }
}

/// Prints the help that was asked for, or what is wrong with the arguments.
fn tell(said: &clap::Error) -> ExitCode {
    let printed = said.print().and_then(|()| io::stdout().flush());
    match printed {
        Err(error) if !said.use_stderr() && error.kind() != io::ErrorKind::BrokenPipe => {
            Console::new(false).error(&format!("cannot write to standard output: {error}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::from(u8::try_from(said.exit_code()).unwrap_or(1)),
    }
}

fn run(command: &Command, context: &mut Context) -> Result<Status, Failure> {
    match command {
        Command::Report(arguments) => report::run(arguments, context),
        Command::Record(arguments) => record::run(arguments, context),
        Command::Analyze(arguments) => analyze::run(arguments, context),
        Command::Simulate(arguments) => simulate::run(arguments, context),
        Command::Demo(arguments) => demo::run(arguments, context),
        Command::Doctor(arguments) => doctor::run(arguments, context),
        Command::Schema(arguments) => schema::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
        Command::Help { .. } => Ok(Status::Done),
        Command::DemoPart(arguments) => demo::play(arguments),
    }
}

fn log_to_standard_error(global: &GlobalArguments) {
    let level = match (global.quiet, global.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "observer=info,warn",
        (false, 2) => "observer=debug,info",
        (false, _) => "trace",
    };
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(level))
        .with_writer(io::stderr)
        .with_ansi(global.color.on(io::stderr().is_terminal()) == Color::Ansi)
        .init();
}
