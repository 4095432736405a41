//! How fast simulations run.

use std::{process::Command, time::Instant};

use anyhow::Result;

use crate::{command, workspace::Workspace};

/// Seeds of a run, and requests of each: half a minute of the collapsed one.
const SEEDS: u32 = 15;
const REQUESTS: u32 = 135_000;

/// Prints how many requests a second one core simulates, without hedges, with them, and in collapse.
pub(super) fn speed(workspace: &Workspace) -> Result<()> {
    for (what, rate, policy) in [
        ("no hedge, half loaded", "2500/s", "none"),
        ("hedge, half loaded", "2500/s", "hedge:30ms"),
        ("hedge, collapsed", "4500/s", "hedge:30ms"),
    ] {
        let start = Instant::now();
        command::output(
            Command::new("taskset")
                .args(["--cpu-list", "0"])
                .arg(workspace.program("observer"))
                .args(["--quiet", "simulate", "--json", "--duration", "1h"])
                .args(["--service", "98%:10ms,2%:300ms", "--rate", rate, "--policy", policy])
                .args(["--seeds", &SEEDS.to_string(), "--requests", &REQUESTS.to_string()]),
        )?;
        let per_second = f64::from(SEEDS * REQUESTS) / start.elapsed().as_secs_f64() / 1e6;
        let shown = format!("{per_second:.2} million/s");
        println!(
            "{:<62} {shown:>28}  ≥ 1 million/s",
            format!("simulate: requests a second, one core, {what}")
        );
    }
    Ok(())
}
