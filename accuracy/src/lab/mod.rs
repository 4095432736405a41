//! The same questions asked of real sockets: every cause of `observer demo`, observed by the probes, in both protocols.
//!
//! What is advised is done: the lab runs once more, with the same arrivals and the same faults, and a client that sends
//! the copies.

mod case;
mod run;
mod table;

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use case::Case;
use run::{Bench, Judged};

/// Runs every cause whose name contains `part`, for so many minutes in all, and says what came of it. Recordings stay in
/// `folder`.
pub fn in_lab(
    minutes: f64,
    part: Option<&str>,
    folder: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<String> {
    let cases: Vec<_> =
        Case::all().into_iter().filter(|case| part.is_none_or(|part| case.name().contains(part))).collect();
    ensure!(!cases.is_empty(), "the lab has no such cause");
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let bench = Bench::new(folder, duration_of_each(minutes, cases.len()))?;
    let mut judged: Vec<Judged> = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        progress(&format!("{} of {}: {}", index + 1, cases.len(), case.name()));
        judged.push(bench.judge(case).with_context(|| case.name())?);
    }
    Ok(table::of(&judged))
}

/// All runs are equally long. About a quarter of the causes are run a second time, with copies.
fn duration_of_each(minutes: f64, cases: usize) -> Duration {
    let seconds = minutes * 60.0 / (1.25 * cases as f64);
    Duration::try_from_secs_f64(seconds).unwrap_or_default().max(Duration::from_secs(1))
}
