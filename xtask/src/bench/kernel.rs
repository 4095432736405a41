//! The kernel's own account of what programs cost.

use std::{os::fd::OwnedFd, time::Duration};

use anyhow::{Context as _, Result};
use aya::{
    programs::loaded_programs,
    sys::{Stats, enable_stats},
};

/// How often programs ran, and for how long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) runs: u64,
    pub(super) time: Duration,
}

impl Cost {
    /// What was added after `earlier`.
    pub(super) const fn since(&self, earlier: &Self) -> Self {
        Self { runs: self.runs.saturating_sub(earlier.runs), time: self.time.saturating_sub(earlier.time) }
    }

    /// What this cost above the same number of runs of `empty`.
    pub(super) fn above(&self, empty: &Self) -> Duration {
        let share = self.runs as f64 / empty.runs.max(1) as f64;
        self.time.saturating_sub(empty.time.mul_f64(share))
    }
}

/// Has the kernel measure its programs as long as the result is kept. That costs time itself.
pub(super) fn measure() -> Result<OwnedFd> {
    enable_stats(Stats::RunTime).context("the kernel does not measure its programs")
}

/// What all loaded programs of these names have cost while the kernel measured.
pub(super) fn of_programs(names: &[&str]) -> Result<Cost> {
    let mut cost = Cost::default();
    for program in loaded_programs() {
        let program = program.context("cannot list the loaded programs")?;
        if program.name_as_str().is_some_and(|name| names.contains(&name)) {
            cost.runs += program.run_count();
            cost.time += program.run_time();
        }
    }
    Ok(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_program_is_taken_off_per_run() {
        let ours = Cost { runs: 10, time: Duration::from_micros(1) };
        let empty = Cost { runs: 20, time: Duration::from_nanos(1_200) };
        assert_eq!(ours.above(&empty), Duration::from_nanos(400));
    }
}
