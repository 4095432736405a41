//! How long an assessment takes.

use std::time::Instant;

use anyhow::{Context as _, Result};

use observer::analysis::Question;

use crate::{case::Case, families::of as families, recording::Recording, score::assess_rows};

/// So many exchanges of one service.
const EXCHANGES: usize = 100_000;

/// A service with slow executions, of which enough exchanges are recorded in a minute.
const FAMILY: &str = "slow-executions";

/// Assesses the latest 100,000 exchanges of one service so many times, and says in milliseconds how long the middle one
/// took.
pub fn speed(times: usize) -> Result<String> {
    let family = families(None).into_iter().find(|family| family.name == FAMILY);
    let family = family.with_context(|| format!("there is no family '{FAMILY}'"))?;
    let recording = (1..1_000)
        .map(|seed| Case::draw(family, seed).map(|case| Recording::of(&case)))
        .find(|recording| recording.as_ref().is_ok_and(|recording| recording.exchanges.len() >= EXCHANGES))
        .context("no case has enough exchanges")??;
    let rows = &recording.rows()[..EXCHANGES];
    let mut took: Vec<f64> = (0..times)
        .map(|_| {
            let begun = Instant::now();
            let _assessment = assess_rows(rows, &recording.names, &Question::default());
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    took.sort_by(f64::total_cmp);
    Ok(format!("{:.1}", took.get(times / 2).copied().unwrap_or_default()))
}
