//! `observer report`: observes for a while and prints one report.

use clap::Args;
use jiff::SignedDuration;

use super::{
    Context,
    arguments::{DeveloperArguments, OutputArguments, SelectionArguments, StrictArguments},
    collected::Collected,
    duration,
    failure::{Failure, Status},
    interrupt::Interrupt,
    live,
    output::{self, Output},
};
use crate::{capture::kernel::KernelCapture, exchange::Names};

/// Observe this host for a while, print one report, and exit
#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// How long to observe, such as 250ms, 60s or 1m30s; an interrupt ends it early
    #[arg(
        short,
        long,
        value_name = "DURATION",
        env = "OBSERVER_DURATION",
        default_value = "10s",
        value_parser = duration::parse
    )]
    duration: SignedDuration,
    #[command(flatten)]
    selection: SelectionArguments,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    strict: StrictArguments,
    #[command(flatten)]
    developer: DeveloperArguments,
}

pub(super) fn run(arguments: &ReportArguments, context: &mut Context) -> Result<Status, Failure> {
    let mut collected = Collected::new(arguments.selection.filter()?);
    let path = arguments.output.output.as_deref();
    let output = Output::open(path)?;
    let interrupt = Interrupt::watch()?;
    let capture = KernelCapture::start(&live::options(arguments.selection.role, &arguments.developer, path))?;
    let end = live::End::new(Some(arguments.duration), interrupt);
    let mut names = Names::default();
    let provenance = live::observe(
        capture,
        &mut |console, exchanges| {
            console.progress(|| end.progress(exchanges));
            Ok(end.is_there())
        },
        &mut context.console,
        &mut names,
        &mut |exchange, names| {
            collected.take(exchange, names);
            Ok(())
        },
    )?;
    let report = collected.into_report(&names, &provenance, 0, &mut context.console);
    output.write_report(&report, arguments.output.format(), context.color)?;
    Ok(output::status(&report, arguments.strict.strict))
}
