//! How long an assessment takes.

use std::{fmt::Write as _, time::Instant};

use anyhow::{Context as _, Result};
use observer::{
    analysis::Question,
    simulation::{Arrivals, Balancing, Discipline, Effect, Scope, System, When},
};

use crate::{
    case::{Case, Family, Traffic},
    families::of as families,
    pace::Pace,
    recording::Recording,
    score::assess_rows,
    units,
};

/// So many exchanges of one service.
const EXCHANGES: usize = 100_000;

/// A service with slow executions, of which enough exchanges are recorded in a minute.
const FAMILY: &str = "slow-executions";

/// Assesses the latest 100,000 exchanges of either of two services so many times, and says in milliseconds how long the
/// middle one took: a line for each service, with its name.
pub fn speed(times: usize) -> Result<String> {
    let mut text = String::new();
    for (name, recording) in [("executions", executions()?), ("many-instances", many_instances()?)] {
        let rows = recording.rows();
        let before = rows.len().checked_sub(EXCHANGES);
        let latest = &rows[before.with_context(|| format!("{name} has too few exchanges"))?..];
        let mut took: Vec<f64> = (0..times)
            .map(|_| {
                let begun = Instant::now();
                let _assessment = assess_rows(latest, &recording.names, &Question::default());
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        took.sort_by(f64::total_cmp);
        let _ = writeln!(text, "{name} {:.1}", took.get(times / 2).copied().unwrap_or_default());
    }
    Ok(text)
}

/// A usual service, which says soon what is the matter with it.
fn executions() -> Result<Recording> {
    let family = families(None).into_iter().find(|family| family.name == FAMILY);
    let family = family.with_context(|| format!("there is no family '{FAMILY}'"))?;
    (1..1_000)
        .map(|seed| Case::draw(family, seed).map(|case| Recording::of(&case)))
        .find(|recording| recording.as_ref().is_ok_and(|recording| recording.exchanges.len() >= EXCHANGES))
        .context("no case has enough exchanges")?
}

/// A service that takes long to find out about: many instances stop together, for moments and often, so that they are
/// compared in many windows of many widths. With more instances windows are no longer as narrow, and it takes less.
fn many_instances() -> Result<Recording> {
    let system = System {
        arrivals: Arrivals::Poisson(units::rate(2_000.0)?),
        width: units::whole(1.0),
        balancing: Balancing::Random,
        instances: units::whole(150.0),
        slots: units::whole(4.0),
        discipline: Discipline::FirstInFirstOut,
        service: Pace::LogNormal(0.3).of_mean(0.002)?,
    };
    let when = When::Random { gap: units::seconds(1.0), length: units::seconds(0.05) };
    let traffic = Traffic::to(system).fault(Scope::All, when, Effect::Pause);
    let family = Family { name: "many-instances", ..Family::PATTERN };
    Ok(Recording::of(&Case { family, seed: 1, traffic, per_host: 1, run: 1, rejected: 0 }))
}
