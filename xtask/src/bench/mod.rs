//! `cargo xtask bench`: what observing costs, on this machine, beside real programs.
//!
//! Every figure compares runs that follow each other at once; none is asserted anywhere.

mod accuracy;
mod assessment;
mod empty;
mod kernel;
mod observer;
mod offline;
mod simulation;
mod statistics;
mod workload;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

use self::{
    observer::{Observed, Observer},
    statistics::Spread,
    workload::{Nginx, Redis, Speaks, Workload},
};
use crate::workspace::Workspace;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    /// How often every pair of runs is repeated
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

#[derive(Subcommand)]
enum What {
    /// Measure how often the verdict and the advice are right instead
    Accuracy(accuracy::Arguments),
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if let Some(What::Accuracy(arguments)) = &arguments.what {
        return accuracy::run(workspace, arguments);
    }
    if !rustix::process::geteuid().is_root() {
        bail!("attaching the probes needs root: run this as root");
    }
    workspace.build_programs()?;
    let redis = Redis::start()?;
    let (http1, tls, http2) =
        (Nginx::start(Speaks::Http1)?, Nginx::start(Speaks::Tls)?, Nginx::start(Speaks::Http2)?);

    println!("{:<62} {:>28}  goal", "what", "median [least, most]");
    for workload in [&http1 as &dyn Workload, &redis, &tls, &http2] {
        cost(workspace, workload, arguments.rounds)?;
        influence(workspace, workload, arguments.rounds)?;
    }
    offline::analysis(workspace)?;
    assessment::speed(workspace)?;
    simulation::speed(workspace)
}

/// What an exchange costs in the kernel and in user space.
fn cost(workspace: &Workspace, workload: &dyn Workload, rounds: u32) -> Result<()> {
    let _measuring = kernel::measure()?;
    let empty = empty::Attached::attach()?;
    let (mut packet, mut kernel_exchange) = (Vec::new(), Vec::new());
    let (mut either, mut client) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        for (role, exchange) in [("both", &mut either), ("client", &mut client)] {
            let before = kernel::of_programs(&empty::NAMES)?;
            let (_, observed) = observe(workspace, workload, role)?;
            let empty = kernel::of_programs(&empty::NAMES)?.since(&before);
            // What the kernel's own measuring takes, which an empty program shows, is there only while it measures.
            let all = observed.programs.above(&empty) + observed.processor;
            exchange.push(all.as_secs_f64() * 1e6 / observed.exchanges as f64);
            if role == "both" {
                // Each end sees an exchange of its own: a packet of payload at either hook.
                let above = observed.packet_programs.above(&empty);
                let per_end = above.as_secs_f64() * 1e9 / observed.exchanges as f64;
                packet.push(per_end / 2.0);
                kernel_exchange.push(per_end);
            }
        }
    }
    drop(empty);
    let name = workload.name();
    if let Some(frames) = workload.frames() {
        // Several frames share a packet, so what counts is what an exchange costs.
        let frame: Vec<_> = kernel_exchange.iter().map(|cost| cost / f64::from(frames)).collect();
        row(&format!("{name}: kernel, frame over an empty program"), &frame, 0, " ns", "");
        row(
            &format!("{name}: kernel, exchange over an empty program"),
            &kernel_exchange,
            0,
            " ns",
            "≤ 2,000 ns",
        );
    } else {
        row(&format!("{name}: kernel, payload packet over an empty program"), &packet, 0, " ns", "≤ 150 ns");
    }
    row(&format!("{name}: kernel and user, exchange, at one end"), &either, 2, " µs", "≤ 1.5 µs");
    // The packets of the server's end pass as well, and are passed by.
    row(&format!("{name}: the same, client's end, server on this host"), &client, 2, " µs", "");
    Ok(())
}

/// What the observed program notices, and what the observer misses.
fn influence(workspace: &Workspace, workload: &dyn Workload, rounds: u32) -> Result<()> {
    let (mut throughput, mut tail, mut lost, mut missing) = (Vec::new(), Vec::new(), 0, 0);
    for _ in 0..rounds {
        let without = workload.run()?;
        let (with, observed) = observe(workspace, workload, "client")?;
        throughput.push(with.per_second / without.per_second);
        tail.push(with.p99_ms / without.p99_ms);
        lost += observed.lost;
        missing += with.requests.abs_diff(observed.exchanges);
    }
    let name = workload.name();
    row(&format!("{name}: throughput, with against without"), &throughput, 3, "×", "≥ 0.97×");
    row(&format!("{name}: p99, with against without"), &tail, 3, "×", "≤ 1.03×");
    println!("{:<62} {lost:>28}  0", format!("{name}: exchanges lost, as counted"));
    println!("{:<62} {missing:>28}  0", format!("{name}: difference to the program's own count"));
    Ok(())
}

fn observe(
    workspace: &Workspace,
    workload: &dyn Workload,
    role: &str,
) -> Result<(workload::Outcome, Observed)> {
    let observer = Observer::start(workspace, workload.port(), role)?;
    let outcome = workload.run()?;
    Ok((outcome, observer.finish()?))
}

fn row(what: &str, values: &[f64], digits: usize, unit: &str, goal: &str) {
    let Spread { least, median, most } = Spread::of(values);
    let shown = format!("{median:.digits$}{unit} [{least:.digits$}, {most:.digits$}]");
    println!("{what:<62} {shown:>28}  {goal}");
}
