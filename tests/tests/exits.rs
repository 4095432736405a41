//! However the observer ends, nothing of it stays in the kernel.

use std::{
    collections::BTreeSet,
    fs,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use observer_tests::{
    observation::{Observation, wait_until_observing},
    process::{Lines, Programs, Running},
};
use rustix::process::Signal;

/// How long the kernel may take to free what nobody holds any more, and a process to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Ids of the kernel's BPF objects.
#[derive(Debug, Default, PartialEq, Eq)]
struct Held {
    programs: BTreeSet<u32>,
    links: BTreeSet<u32>,
    maps: BTreeSet<u32>,
}

impl Held {
    /// What a process holds through its file descriptors.
    fn by(pid: u32) -> Result<Self> {
        let mut held = Self::default();
        for entry in fs::read_dir(format!("/proc/{pid}/fdinfo"))? {
            // A descriptor may be closed meanwhile.
            let Ok(text) = fs::read_to_string(entry?.path()) else { continue };
            for line in text.lines() {
                let Some((key, value)) = line.split_once(':') else { continue };
                let Ok(id) = value.trim().parse() else { continue };
                match key {
                    "prog_id" => held.programs.insert(id),
                    "link_id" => held.links.insert(id),
                    "map_id" => held.maps.insert(id),
                    _ => false,
                };
            }
        }
        ensure!(
            !held.programs.is_empty() && !held.links.is_empty() && !held.maps.is_empty(),
            "an observing process holds programs, links and maps: {held:?}"
        );
        Ok(held)
    }

    /// What of it still exists in the kernel.
    fn left(&self) -> Self {
        let mut left = Self::default();
        // One that vanishes while it is looked at is an error here and gone all the same.
        left.programs.extend(aya::programs::loaded_programs().flatten().map(|program| program.id()));
        left.links.extend(aya::programs::loaded_links().flatten().map(|link| link.id()));
        left.programs.retain(|id| self.programs.contains(id));
        left.links.retain(|id| self.links.contains(id));
        if !left.programs.is_empty() {
            // To look at a map is to open it. Linux (seen on 6.18) leaks a map of programs that is opened while the
            // programs in it are on their way out, so this waits until they are gone.
            left.maps.clone_from(&self.maps);
            return left;
        }
        left.maps.extend(aya::maps::loaded_maps().flatten().map(|map| map.id()));
        left.maps.retain(|id| self.maps.contains(id));
        left
    }

    /// Waits until nothing of it exists any more: the kernel frees some of it a little later.
    fn vanishes(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = self.left();
            if left == Self::default() {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("the kernel still holds {left:?}");
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn an_interrupt_detaches() -> Result<()> {
    let observation = Observation::start(&Programs::beside_tests()?, &["--role", "both"])?;
    let held = Held::by(observation.id())?;
    ensure!(held.left() == held, "what the process holds exists");
    observation.finish()?;
    held.vanishes()
}

#[test]
fn termination_detaches() -> Result<()> {
    detaches_by(Signal::TERM)
}

#[test]
fn a_kill_detaches() -> Result<()> {
    detaches_by(Signal::KILL)
}

#[test]
fn a_crash_detaches() -> Result<()> {
    detaches_by(Signal::ABORT)
}

fn detaches_by(signal: Signal) -> Result<()> {
    let directory = tempfile::TempDir::new()?;
    let file = directory.path().join("x.parquet");
    let (mut running, held) = observing(&["record", "--duration", "10m", "-o", &file.to_string_lossy()])?;
    running.signal(signal)?;
    running.wait(PATIENCE)?;
    held.vanishes()?;
    if signal == Signal::KILL {
        ensure!(!file.exists(), "an incomplete recording appeared");
    }
    Ok(())
}

#[test]
fn the_end_of_its_time_detaches() -> Result<()> {
    let (mut running, held) = observing(&["report", "--duration", "2s"])?;
    running.succeed(PATIENCE)?;
    held.vanishes()
}

#[test]
fn a_closed_pipe_detaches() -> Result<()> {
    let (mut running, held) = observing(&["report", "--duration", "2s"])?;
    drop(running.child().stdout.take());
    let status = running.wait(PATIENCE)?;
    ensure!(status.success(), "a closed pipe is success, not {status}");
    held.vanishes()
}

fn observing(arguments: &[&str]) -> Result<(Running, Held)> {
    let mut running = Running::start(
        Command::new(Programs::beside_tests()?.observer)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    )?;
    let mut messages = Lines::of(running.child().stderr.take().context("standard error is piped")?);
    wait_until_observing(&mut messages)?;
    let held = Held::by(running.id())?;
    Ok((running, held))
}
