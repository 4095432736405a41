//! `observer demo`: something to observe, observed.

use anyhow::anyhow;
use clap::Args;
use jiff::SignedDuration;

use super::{
    Context,
    arguments::{DeveloperArguments, OutputArguments, RoleChoice, StrictArguments},
    collected::Collected,
    console::Console,
    duration,
    failure::{Failure, Status},
    interrupt::Interrupt,
    live,
    output::{self, Output},
};
use crate::{
    capture::{
        kernel::{CaptureError, KernelCapture},
        table::{self, TableOptions},
    },
    demo::{self, ClientOptions, Comparison, Demo, ReplicaOptions},
    exchange::{Exchange, Names},
    filter::Filter,
    identity::Services,
    provenance::{Degradation, Provenance, SourceKind},
    recording::PendingFile,
    report::{Report, model::Selection},
};

/// Run three replicas and a client on loopback, one replica pausing now and then, and report what the probes see
///
/// Where the probes cannot be loaded it says what is missing and reports the client's own timestamps instead.
#[derive(Debug, Args)]
pub(super) struct DemoArguments {
    /// How long the client sends requests, such as 8s; an interrupt ends it early
    #[arg(
        short,
        long,
        value_name = "DURATION",
        env = "OBSERVER_DURATION",
        default_value = "8s",
        value_parser = duration::parse
    )]
    duration: SignedDuration,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    strict: StrictArguments,
    #[command(flatten)]
    developer: DeveloperArguments,
}

pub(super) fn run(arguments: &DemoArguments, context: &mut Context) -> Result<Status, Failure> {
    let output = Output::open(arguments.output.output.as_deref())?;
    let part = output.file().and_then(PendingFile::part);
    let interrupt = Interrupt::watch()?.leaving_no(part);
    let console = &mut context.console;
    let report = match KernelCapture::start(&live::options(
        RoleChoice::Client,
        Services::default(),
        &arguments.developer,
        part,
    )) {
        Ok(capture) => with_probes(capture, arguments.duration, &interrupt, console)?,
        Err(error) => {
            console.note(&format!(
                "{error}; 'observer doctor' tells more; going on with the demo client's own timestamps"
            ));
            without_probes(&error, arguments.duration, &interrupt, console)?
        }
    };
    output.write_report(&report, arguments.output.format(), context.color)?;
    Ok(output::status(&report, arguments.strict.strict))
}

/// One of the demo's replicas, a process of its own.
pub(super) fn run_replica(options: &ReplicaOptions) -> Result<Status, Failure> {
    match demo::run_replica(options) {
        Ok(()) => Ok(Status::Done),
        Err(error) => Err(Failure::Running(anyhow!("the demo's replica failed: {error}"))),
    }
}

/// The demo's client, a process of its own.
pub(super) fn run_client(options: &ClientOptions) -> Result<Status, Failure> {
    match demo::run_client(options) {
        Ok(()) => Ok(Status::Done),
        Err(error) => Err(Failure::Running(anyhow!("the demo's client failed: {error}"))),
    }
}

fn with_probes(
    capture: KernelCapture,
    duration: SignedDuration,
    interrupt: &Interrupt,
    console: &mut Console,
) -> Result<Report, Failure> {
    let mut demo = start(duration)?;
    let mut collected = Collected::new(filter_for(&demo)?);
    let mut observed = Vec::new();
    let end = live::End::new(Some(duration), interrupt.clone());
    let mut names = Names::default();
    let provenance = live::observe(
        capture,
        &mut |console, exchanges| {
            console.progress(|| end.progress(exchanges));
            is_over(&mut demo, interrupt)
        },
        None,
        console,
        &mut names,
        &mut |exchange: &Exchange, names: &Names| {
            if collected.take(exchange, names) {
                observed.push(*exchange);
            }
            Ok(())
        },
    )?;
    let log = demo.finish().map_err(failure)?;
    let mut made = Vec::new();
    table::read(&log.path(), &TableOptions::default(), &mut names, &mut |exchange, _| made.push(*exchange))?;
    console.note(&Comparison::of(&observed, &made).to_string());
    Ok(collected.into_report(&names, &provenance, 0, console))
}

fn without_probes(
    error: &CaptureError,
    duration: SignedDuration,
    interrupt: &Interrupt,
    console: &mut Console,
) -> Result<Report, Failure> {
    let mut demo = start(duration)?;
    let mut collected = Collected::new(filter_for(&demo)?);
    let end = live::End::new(Some(duration), interrupt.clone());
    while !is_over(&mut demo, interrupt)? {
        console.progress(|| end.progress(0));
        live::wait(0);
    }
    let log = demo.finish().map_err(failure)?;
    let mut names = Names::default();
    let read = table::read(&log.path(), &TableOptions::default(), &mut names, &mut |exchange, names| {
        collected.take(exchange, names);
    })?;
    let provenance = Provenance {
        kind: SourceKind::DemoClient,
        degraded: vec![Degradation {
            what: "probes".into(),
            reason: error.to_string(),
            consequence: "latency is as the client saw it, read lag included".into(),
        }],
        ..read.provenance
    };
    console.clear_progress();
    Ok(collected.into_report(&names, &provenance, read.skipped_rows, console))
}

fn start(duration: SignedDuration) -> Result<Demo, Failure> {
    Demo::start(duration).map_err(failure)
}

/// Whether the client has all its answers; an interrupt lets it ask no more.
fn is_over(demo: &mut Demo, interrupt: &Interrupt) -> Result<bool, Failure> {
    if interrupt.is_noted() {
        demo.stop();
    }
    demo.finished().map_err(failure)
}

/// Only the demo's own exchanges.
fn filter_for(demo: &Demo) -> Result<Filter, Failure> {
    let mut ports: Vec<_> = demo.instances().iter().map(std::net::SocketAddr::port).collect();
    ports.dedup();
    let selection = Selection { ports, ..Selection::default() };
    Filter::new(selection).map_err(|error| Failure::Usage(error.into()))
}

fn failure(error: demo::DemoError) -> Failure {
    Failure::Running(error.into())
}
