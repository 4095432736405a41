//! `observer demo`: something to observe, observed.

mod lab;

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::anyhow;
use clap::{Args, ValueHint};
use jiff::SignedDuration;
use lab::LabArguments;

use super::{
    Context,
    arguments::{DeveloperArguments, OutputArguments, ReportFormat, RoleChoice, StrictArguments},
    collected::Collected,
    console::Console,
    duration,
    failure::{Failure, Status},
    interrupt::Interrupt,
    live,
    output::{self, Output},
    question::QuestionArguments,
};
use crate::{
    capture::kernel::{CaptureError, KernelCapture},
    demo::{self, Comparison, Lab, LabError, Part, PreparedLab, Scenario, System, Truth},
    exchange::{Exchange, Names},
    filter::Filter,
    identity::Services,
    provenance::{Degradation, Provenance},
    recording::{PendingFile, Recorder},
    report::{Report, Settlements, model::Selection},
    settings::QuestionSettings,
};

/// Run replicas, a store and a client on loopback with one cause of slow requests, and report what the probes see
///
/// Every fault is a mechanism: a stopped process, a lock, a quota. Where the probes cannot be loaded it says what is
/// missing and reports the client's own timestamps instead.
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
    lab: LabArguments,
    /// Write what was observed to this exchange log, what really happened to FILE.truth.json, and what the client saw
    /// to FILE.client.csv
    #[arg(long, value_name = "FILE", env = "OBSERVER_RECORD", value_hint = ValueHint::FilePath)]
    record: Option<PathBuf>,
    #[command(flatten)]
    question: QuestionArguments,
    #[command(flatten)]
    output: OutputArguments<ReportFormat>,
    #[command(flatten)]
    strict: StrictArguments,
    #[command(flatten)]
    developer: DeveloperArguments,
}

/// One of the lab's processes, told which part to play.
#[derive(Debug, Args)]
pub(super) struct PartArguments {
    /// The part, as JSON
    part: Part,
}

/// Plays a part.
pub(super) fn play(arguments: &PartArguments) -> Result<Status, Failure> {
    match demo::play(&arguments.part) {
        Ok(()) => Ok(Status::Done),
        Err(error) => Err(Failure::Running(anyhow!("a process of the demo failed: {error}"))),
    }
}

pub(super) fn run(arguments: &DemoArguments, context: &mut Context) -> Result<Status, Failure> {
    let asked = arguments.question.settings();
    let scenario = arguments.lab.scenario(arguments.duration, asked.budget);
    check_length(&scenario)?;
    let output = Output::open(arguments.output.output.as_deref())?;
    let program = env::current_exe()
        .map_err(|error| Failure::Running(anyhow!("cannot find this program to start it again: {error}")))?;
    let record = arguments.record.as_deref();
    // As the report, these are opened while this process may still be privileged.
    let recorder = record.map(Recorder::create).transpose()?;
    let companions = record.map(Companions::create).transpose()?;
    let files = output.file().into_iter().chain(recorder.iter().map(Recorder::output));
    let files = files.chain(companions.iter().flat_map(Companions::files));
    let parts: Vec<PathBuf> = files.filter_map(PendingFile::part).map(Into::into).collect();
    let parts = || parts.iter().map(PathBuf::as_path);
    let interrupt = Interrupt::watch()?.leaving_no(parts());
    let show = Show {
        lab: Lab::prepare(&program, &scenario)?,
        asked,
        recorder,
        duration: arguments.duration,
        interrupt,
        console: &mut context.console,
    };
    let (report, truth) = match KernelCapture::start(&live::options(
        RoleChoice::Client,
        Services::default(),
        &arguments.developer,
        parts(),
    )) {
        Ok(capture) => show.with_probes(capture)?,
        Err(error) => show.without_probes(&error)?,
    };
    if let Some(Companions { truth_file, client_log }) = companions {
        truth.write(truth_file)?;
        truth.write_client_log(client_log)?;
    }
    output.write_report(&report, arguments.output.format(), context.color)?;
    Ok(output::status(&report, arguments.strict.strict))
}

/// Fewer requests than this show nothing.
const LEAST_REQUESTS: f64 = 10.0;

/// Refuses a lab in which hardly anything is asked.
fn check_length(scenario: &Scenario) -> Result<(), Failure> {
    let System { duration, rate, .. } = scenario.system;
    let rate = rate.as_per_second();
    let least = Duration::from_secs_f64((LEAST_REQUESTS / rate * 1e3).ceil() / 1e3);
    if duration >= least {
        return Ok(());
    }
    Err(Failure::Usage(anyhow!(
        "--duration {duration:?} is too short to see anything: at {rate} requests a second, {LEAST_REQUESTS} take \
         {least:?}; make it at least that long"
    )))
}

/// The lab, and who watches it.
struct Show<'a> {
    lab: PreparedLab,
    asked: QuestionSettings,
    recorder: Option<Recorder>,
    duration: SignedDuration,
    interrupt: Interrupt,
    console: &'a mut Console,
}

impl Show<'_> {
    fn with_probes(mut self, capture: KernelCapture) -> Result<(Report, Truth), Failure> {
        let mut lab = self.lab.start()?;
        let mut collected = Collected::new(filter_for(&lab)?, &self.asked);
        let mut observed = Vec::new();
        let end = live::End::new(Some(self.duration), self.interrupt.clone());
        let mut names = Names::default();
        let provenance = live::observe(
            capture,
            &mut |console, exchanges| {
                console.progress(|| end.progress(exchanges));
                is_over(&mut lab, &self.interrupt)
            },
            None,
            self.console,
            &mut names,
            &mut |exchange: &Exchange, names: &Names| {
                if collected.take(exchange, names) {
                    record(self.recorder.as_mut(), exchange, names)?;
                    observed.push(*exchange);
                }
                Ok(())
            },
        )?;
        let truth = lab.finish()?;
        let made = truth.exchanges(&mut names);
        self.console.note(&Comparison::of(&observed, &made).to_string());
        conclude(self.recorder, self.console, collected, &names, &provenance, truth)
    }

    fn without_probes(mut self, error: &CaptureError) -> Result<(Report, Truth), Failure> {
        self.console.note(&format!(
            "{error}; 'observer doctor' tells more; going on with the demo client's own timestamps"
        ));
        let mut lab = self.lab.start()?;
        let mut collected = Collected::new(filter_for(&lab)?, &self.asked);
        let end = live::End::new(Some(self.duration), self.interrupt.clone());
        while !is_over(&mut lab, &self.interrupt)? {
            self.console.progress(|| end.progress(0));
            live::wait(0);
        }
        let truth = lab.finish()?;
        let mut names = Names::default();
        for exchange in truth.exchanges(&mut names) {
            if collected.take(&exchange, &names) {
                record(self.recorder.as_mut(), &exchange, &names)?;
            }
        }
        let provenance = Provenance {
            degraded: vec![Degradation {
                what: "probes".into(),
                reason: error.to_string(),
                consequence: "latency is as the client saw it, read lag included".into(),
            }],
            ..truth.provenance()
        };
        self.console.clear_progress();
        conclude(self.recorder, self.console, collected, &names, &provenance, truth)
    }
}

/// Completes the recording, says what was hedged, and makes the report.
fn conclude(
    recorder: Option<Recorder>,
    console: &mut Console,
    collected: Collected,
    names: &Names,
    provenance: &Provenance,
    truth: Truth,
) -> Result<(Report, Truth), Failure> {
    if let Some(recorder) = recorder {
        recorder.finish(provenance)?;
    }
    if let Some(counts) = &truth.counts {
        console.note(&format!(
            "{} of {} requests were hedged, {} of them answered by the second copy; {} were denied by the budget",
            counts.hedges, counts.primaries, counts.hedged.won_by_hedge, counts.denied_by_budget
        ));
    }
    Ok((collected.into_report(names, provenance, 0, &mut Settlements::default(), console), truth))
}

fn record(recorder: Option<&mut Recorder>, exchange: &Exchange, names: &Names) -> Result<(), Failure> {
    Ok(recorder.map_or(Ok(()), |recorder| recorder.write(exchange, names))?)
}

/// Whether the client has all its answers; an interrupt lets it ask no more.
fn is_over(lab: &mut Lab, interrupt: &Interrupt) -> Result<bool, Failure> {
    if interrupt.is_noted() {
        lab.stop();
    }
    Ok(lab.finished()?)
}

/// Only the lab's own exchanges.
fn filter_for(lab: &Lab) -> Result<Filter, Failure> {
    let mut ports: Vec<_> = lab.instances().iter().map(std::net::SocketAddr::port).collect();
    ports.dedup();
    let selection = Selection { ports, ..Selection::default() };
    Filter::new(selection).map_err(|error| Failure::Usage(error.into()))
}

/// What is written beside a recording.
struct Companions {
    truth_file: PendingFile,
    client_log: Recorder,
}

impl Companions {
    fn create(recording: &Path) -> Result<Self, Failure> {
        Ok(Self {
            truth_file: PendingFile::create(&beside(recording, ".truth.json"))?,
            client_log: Recorder::create(&beside(recording, ".client.csv"))?,
        })
    }

    fn files(&self) -> [&PendingFile; 2] {
        [&self.truth_file, self.client_log.output()]
    }
}

/// The file beside `path` with this ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Policy(_) | LabError::TooManyReplicas { .. } => Self::Usage(error.into()),
            _ => Self::Running(error.into()),
        }
    }
}
