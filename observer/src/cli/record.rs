//! `observer record`: observes and writes an exchange log.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use jiff::SignedDuration;

use super::{
    Context,
    arguments::{ConfigArguments, DeveloperArguments, SelectionArguments, StrictArguments},
    collected::port_not_seen,
    duration,
    failure::{Failure, Status},
    interrupt::Interrupt,
    live,
};
use crate::{
    capture::kernel::KernelCapture,
    exchange::{Exchange, Names},
    identity::Services,
    recording::Recorder,
};

/// Observe this host and write an exchange log, for 'observer analyze' or any program that reads tables
#[derive(Debug, Args)]
pub(super) struct RecordArguments {
    /// The exchange log, which appears only when it is complete; its name ends in .parquet or .csv
    #[arg(short, long, value_name = "FILE", env = "OBSERVER_OUTPUT", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    /// How long to observe, such as 250ms, 60s or 1m30s; without it, until an interrupt
    #[arg(short, long, value_name = "DURATION", env = "OBSERVER_DURATION", value_parser = duration::parse)]
    duration: Option<SignedDuration>,
    #[command(flatten)]
    selection: SelectionArguments,
    #[command(flatten)]
    strict: StrictArguments,
    #[command(flatten)]
    config: ConfigArguments,
    #[command(flatten)]
    developer: DeveloperArguments,
}

pub(super) fn run(arguments: &RecordArguments, context: &mut Context) -> Result<Status, Failure> {
    let mut filter = arguments.selection.filter()?;
    let mut recorder = Recorder::create(&arguments.output)?;
    let interrupt = Interrupt::watch()?.leaving_no(recorder.output().part());
    let capture = KernelCapture::start(&live::options(
        arguments.selection.role,
        Services::new(arguments.config.settings()?.services),
        &arguments.developer,
        recorder.output().part(),
    ))?;
    let end = live::End::new(arguments.duration, interrupt);
    let mut names = Names::default();
    let mut rows = 0_u64;
    let provenance = live::observe(
        capture,
        &mut |console, exchanges| {
            console.progress(|| end.progress(exchanges));
            Ok(end.is_there())
        },
        None,
        &mut context.console,
        &mut names,
        &mut |exchange: &Exchange, names: &Names| {
            if filter.admits(exchange, names) {
                recorder.write(exchange, names)?;
                rows += 1;
            }
            Ok(())
        },
    )?;
    recorder.finish(&provenance)?;
    for port in filter.into_selection().ports_not_seen {
        context.console.note(&port_not_seen(port));
    }
    for lack in &provenance.degraded {
        context.console.note(&format!("degraded: {} ({}): {}", lack.what, lack.reason, lack.consequence));
    }
    context.console.note(&format!(
        "{rows} exchanges recorded, {} records of the probes lost; see 'observer analyze {}'",
        provenance.lost_events,
        arguments.output.display()
    ));
    let complete = provenance.degraded.is_empty() && provenance.lost_events == 0;
    Ok(if arguments.strict.strict && !complete { Status::Degraded } else { Status::Done })
}
