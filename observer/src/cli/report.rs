//! `observer report`: observes for a while and prints one report.

use clap::Args;
use jiff::SignedDuration;

use super::{
    Context,
    arguments::{
        ColorChoice, ConfigArguments, DeveloperArguments, OutputArguments, ReportFormat, SelectionArguments,
        StrictArguments,
    },
    collected::Collected,
    duration,
    failure::{Failure, Status},
    interrupt::Interrupt,
    live::{self, Audience},
    output::{self, Output},
    question::QuestionArguments,
};
use crate::{
    capture::kernel::KernelCapture,
    exchange::{Exchange, Names},
    identity::Services,
    provenance::Provenance,
    recording::PendingFile,
    report::Settlements,
};

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
    /// Print a report of everything so far this often as well, requests that still wait included
    #[arg(short, long, value_name = "DURATION", env = "OBSERVER_INTERVAL", value_parser = duration::parse)]
    interval: Option<SignedDuration>,
    #[command(flatten)]
    selection: SelectionArguments,
    #[command(flatten)]
    question: QuestionArguments,
    #[command(flatten)]
    output: OutputArguments<ReportFormat>,
    #[command(flatten)]
    strict: StrictArguments,
    #[command(flatten)]
    config: ConfigArguments,
    #[command(flatten)]
    developer: DeveloperArguments,
}

pub(super) fn run(arguments: &ReportArguments, context: &mut Context) -> Result<Status, Failure> {
    let format = arguments.output.format();
    if arguments.interval.is_some() && matches!(format, ReportFormat::Json) {
        let reason = "several reports are not one JSON document; with --interval use --format jsonl";
        return Err(Failure::Usage(anyhow::anyhow!(reason)));
    }
    let settings = arguments.config.settings()?;
    let asked = arguments.question.settings().or(settings.question);
    let services = Services::new(settings.services);
    let output = Output::open(arguments.output.output.as_deref())?;
    let mut reports = Reports {
        collected: Collected::new(arguments.selection.filter()?, &asked),
        settled: Settlements::default(),
        output,
        format,
        color: context.color,
    };
    let part = reports.output.file().and_then(PendingFile::part);
    let interrupt = Interrupt::watch()?.leaving_no(part);
    let capture =
        KernelCapture::start(&live::options(arguments.selection.role, services, &arguments.developer, part))?;
    let end = live::End::new(Some(arguments.duration), interrupt);
    let mut names = Names::default();
    let provenance = live::observe(
        capture,
        &mut |console, exchanges| {
            console.progress(|| end.progress(exchanges));
            Ok(end.is_there())
        },
        arguments.interval.map(SignedDuration::unsigned_abs),
        &mut context.console,
        &mut names,
        &mut reports,
    )?;
    let Reports { collected, mut settled, output, .. } = reports;
    let report = collected.into_report(&names, &provenance, 0, &mut settled, &mut context.console);
    output.write_report(&report, format, context.color)?;
    Ok(output::status(&report, arguments.strict.strict))
}

/// Reports so far, and the last one.
struct Reports {
    collected: Collected,
    settled: Settlements,
    output: Output,
    format: ReportFormat,
    color: ColorChoice,
}

impl Audience for Reports {
    fn take(&mut self, exchange: &Exchange, names: &Names) -> Result<(), Failure> {
        self.collected.take(exchange, names);
        Ok(())
    }

    fn look(
        &mut self,
        unfinished: &[Exchange],
        names: &Names,
        provenance: &Provenance,
    ) -> Result<(), Failure> {
        let report = self.collected.so_far(unfinished, names, provenance, &mut self.settled);
        self.output.add_report(&report, self.format, self.color)
    }
}
