//! What both kinds of traffic share.

use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How many connections are busy at once.
pub(crate) const CONNECTIONS: usize = 64;

/// How long a read or write may take.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Two processors that this process may use.
pub(crate) fn processors() -> Result<(usize, usize)> {
    let allowed = sched_getaffinity(None)?;
    let mut usable = (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor));
    let (first, second) = (usable.next(), usable.next());
    Ok((first.context("a process has a processor")?, second.context("this test needs two processors")?))
}

/// Keeps the calling thread on one processor.
pub(crate) fn pin(processor: usize) -> Result<()> {
    let mut only = CpuSet::new();
    only.set(processor);
    Ok(sched_setaffinity(None, &only)?)
}
