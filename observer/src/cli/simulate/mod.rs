//! `observer simulate`: what policies would do to a system.

mod input;
mod plotting;
mod presets;
mod running;
mod system;
mod warnings;

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueHint, builder::PossibleValuesParser};
use jiff::SignedDuration;
use observer_common::Nanoseconds;

use self::system::SystemArguments;
use super::{
    Context,
    arguments::OutputArguments,
    duration,
    failure::{Failure, Status},
    number,
    output::Output,
};
use crate::{
    report::words::units,
    simulation::{
        Extent, Policy, System,
        notation::PolicyText,
        presets::NAMES,
        results::{self, Comparison},
    },
};

/// Simulate what policies would do to a system: hedges, copies, retries, with budgets and cancellation
///
/// Every policy meets the same requests. Times are of the simulation alone; nothing on this host is observed.
#[derive(Debug, Args)]
pub(super) struct SimulateArguments {
    /// Compare a published case with its simulation; 'list' prints the names, one a line
    #[arg(
        long,
        value_name = "NAME",
        env = "OBSERVER_PRESET",
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(NAMES.into_iter().chain([LIST])),
        conflicts_with_all = ["SystemArguments", "policies", "duration", "requests", "plot"]
    )]
    preset: Option<String>,
    #[command(flatten)]
    system: SystemArguments,
    /// What clients do; may be repeated, and all are compared: 'none', 'hedge:DELAY', 'copies:N' (all at once),
    /// 'tied:MESSAGE' (how long a message takes between instances), 'retry:TIMEOUT'. A delay is a duration or a quantile of the service time, such as 'p95'. Settings follow after
    /// commas. Of hedge: probability=62%, budget=5% (of the calls), burst=10 (what the budget can save), per-request=1
    /// (hedges of a request), off-above=4 (calls waiting at an instance), to=any|another|idle. Of retry:
    /// tries=3, layers=2. Of all: deadline=1s, cancel=1ms (after the answer; otherwise losers run to their end)
    #[arg(
        long = "policy",
        value_name = "POLICY",
        env = "OBSERVER_POLICY",
        value_delimiter = ' ',
        default_value = "none hedge:p95,budget=5%",
        help_heading = "Policies"
    )]
    policies: Vec<PolicyText>,
    /// In which simulated time requests arrive; those that have are always answered
    #[arg(
        short,
        long,
        value_name = "DURATION",
        env = "OBSERVER_DURATION",
        default_value = "30s",
        value_parser = duration::parse,
        help_heading = "Runs"
    )]
    duration: SignedDuration,
    /// How many requests arrive at most with each seed
    #[arg(
        long,
        value_name = "N",
        env = "OBSERVER_REQUESTS",
        default_value_t = 1_000_000,
        allow_negative_numbers = true,
        value_parser = number::whole(1, MOST_SIMULATED),
        help_heading = "Runs"
    )]
    requests: u64,
    /// With how many seeds each policy is simulated
    #[arg(
        long,
        value_name = "N",
        env = "OBSERVER_SEEDS",
        default_value_t = 9,
        allow_negative_numbers = true,
        value_parser = number::whole(1_u32, 10_000),
        help_heading = "Runs"
    )]
    seeds: u32,
    /// The first seed; the same seeds give the same result
    #[arg(
        long,
        value_name = "N",
        env = "OBSERVER_SEED",
        default_value_t = 1,
        allow_negative_numbers = true,
        value_parser = number::whole(0, HIGHEST_SEED),
        help_heading = "Runs"
    )]
    seed: u64,
    #[command(flatten)]
    output: OutputArguments,
    /// Draw latency against load and over time into this SVG file; simulates other loads too
    #[arg(long, value_name = "FILE", env = "OBSERVER_PLOT", value_hint = ValueHint::FilePath, help_heading = "Output")]
    plot: Option<PathBuf>,
}

/// Asks for the names of presets.
const LIST: &str = "list";

/// More copies than this are not simulated with one seed: it would take a quarter of an hour.
const MOST_SIMULATED: u64 = 1_000_000_000;

/// Higher numbers are not exact in every reader of JSON.
const HIGHEST_SEED: u64 = (1 << 53) - 10_000;

pub(super) fn run(arguments: &SimulateArguments, context: &mut Context) -> Result<Status, Failure> {
    match arguments.preset.as_deref() {
        Some(LIST) => {
            Output::open(arguments.output.output.as_deref())?.write(&format!("{}\n", NAMES.join("\n")))?;
        }
        Some(name) => presets::run(name, arguments, context)?,
        None => compare(arguments, context)?,
    }
    Ok(Status::Done)
}

fn compare(arguments: &SimulateArguments, context: &mut Context) -> Result<(), Failure> {
    let console = &mut context.console;
    let system = arguments.system.system(console)?;
    let policies: Vec<_> = arguments.policies.iter().map(|text| text.for_service(&system.service)).collect();
    let extent = extent(arguments, &system, &policies)?;
    let output = Output::open(arguments.output.output.as_deref())?;
    let plot = arguments.plot.as_deref().map(|path| Output::open(Some(path))).transpose()?;
    for warning in warnings::of(&system, &policies) {
        console.warning(&warning);
    }

    for (text, policy) in arguments.policies.iter().zip(&policies) {
        if let Some(quantile) = text.delay_quantile() {
            let quantile = units::quantile(quantile.as_fraction());
            console
                .note(&format!("'{policy}' waits for the {quantile} of the service time, as was asked for"));
        }
    }

    let seeds = running::Seeds { first: arguments.seed, count: arguments.seeds };
    let figures = running::figures(&system, &policies, extent, seeds);
    let mut comparison = Comparison::new(&system, extent, seeds.first, &figures);
    if plot.is_some() {
        comparison.against_load = plotting::against_load(&system, &policies, extent, seeds, console);
    }
    console.clear_progress();
    if comparison.runs.reached_limit {
        console.note(&format!(
            "the limit of {} requests ended a run before its time; raise --requests to simulate all of it",
            extent.requests
        ));
    }
    if let Some(plot) = plot {
        let picture = results::plot(&comparison).map_err(|error| Failure::Running(error.into()))?;
        plot.write(&picture)?;
    }
    output.write_either(
        |color| results::render(&comparison, color),
        &comparison,
        arguments.output.format(),
        context.color,
    )
}

/// How much is simulated, if that is not too much.
fn extent(arguments: &SimulateArguments, system: &System, policies: &[Policy]) -> Result<Extent, Failure> {
    let duration = Nanoseconds(u64::try_from(arguments.duration.as_nanos()).unwrap_or(u64::MAX));
    let requests = arguments.requests;
    let per_request =
        policies.iter().map(Policy::most_copies).max().unwrap_or(1) * u64::from(system.width.get());
    let most = (MOST_SIMULATED / per_request).max(1);
    if expected_requests(system, duration).min(requests) > most {
        return Err(Failure::Usage(anyhow!(
            "--requests {requests} is too many: at up to {per_request} copies of calls each, more than {MOST_SIMULATED} \
             would be simulated with each seed; lower it to {most}, or shorten --duration"
        )));
    }
    // Where more come than expected, and at the other loads of a plot, the bound holds as well.
    Ok(Extent { duration, requests: requests.min(most) })
}

/// About how many requests arrive, and hardly ever more.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
fn expected_requests(system: &System, duration: Nanoseconds) -> u64 {
    match system.arrivals.rate() {
        Some(rate) => (1.1 * rate.as_per_second() * duration.as_seconds()) as u64,
        // A closed loop finds its own rate.
        None => u64::MAX,
    }
}
