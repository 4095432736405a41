//! The observer as a child process, and what it costs.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use procfs::process::Process;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tempfile::TempDir;

use super::kernel::{self, Cost};
use crate::{object::expected, workspace::Workspace};

const PACKET_PROGRAMS: [&str; 2] = ["egress", "ingress"];

/// The report's file.
const REPORT: &str = "report.json";

/// How long it may take to begin and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running `observer report`.
pub(super) struct Observer {
    child: Child,
    folder: TempDir,
    processor_before: Duration,
}

/// What it saw and what that cost.
pub(super) struct Observed {
    pub(super) exchanges: u64,
    pub(super) lost: u64,
    /// The programs that see every packet, while the kernel measured.
    pub(super) packet_programs: Cost,
    /// All programs, while the kernel measured.
    pub(super) programs: Cost,
    /// The process's own time on processors while it observed.
    pub(super) processor: Duration,
}

impl Observer {
    /// Starts it and waits until it observes.
    pub(super) fn start(workspace: &Workspace, port: u16, role: &str) -> Result<Self> {
        let program = workspace.program("observer");
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let child = Command::new(&program)
            .args(["--quiet", "report", "--role", role, "--port", &port.to_string()])
            .args(["--duration", "1h", "--format", "json", "--output"])
            .arg(folder.path().join(REPORT))
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut observer = Self { child, folder, processor_before: Duration::ZERO };
        // Its own self-test is over when nothing runs any more.
        let _measuring = kernel::measure()?;
        let deadline = Instant::now() + PATIENCE;
        let mut before = kernel::of_programs(&PACKET_PROGRAMS)?;
        loop {
            thread::sleep(Duration::from_millis(300));
            let now = kernel::of_programs(&PACKET_PROGRAMS)?;
            if now.runs > 0 && now.runs == before.runs {
                break;
            }
            ensure!(Instant::now() < deadline, "observer did not begin within {} s", PATIENCE.as_secs());
            before = now;
        }
        observer.processor_before = observer.processor()?;
        Ok(observer)
    }

    /// Ends it and returns what it saw.
    pub(super) fn finish(mut self) -> Result<Observed> {
        // What happened last is still on its way.
        thread::sleep(Duration::from_millis(100));
        let packet_programs = kernel::of_programs(&PACKET_PROGRAMS)?;
        let programs = kernel::of_programs(&expected::PROGRAMS.map(|program| program.name))?;
        let processor = self.processor()?.saturating_sub(self.processor_before);
        let id = i32::try_from(self.child.id())
            .ok()
            .and_then(Pid::from_raw)
            .context("an impossible process id")?;
        kill_process(id, Signal::INT).context("cannot interrupt observer")?;
        let status = self.child.wait()?;
        if !status.success() {
            bail!("observer report failed with {status}");
        }
        let report = fs::read_to_string(self.folder.path().join(REPORT)).context("there is no report")?;
        let report: Report = serde_json::from_str(&report).context("the report is not understood")?;
        ensure!(report.source.exchanges > 0, "observer saw no exchange");
        Ok(Observed {
            exchanges: report.source.exchanges,
            lost: report.source.lost_events,
            packet_programs,
            programs,
            processor,
        })
    }

    fn processor(&self) -> Result<Duration> {
        let id = i32::try_from(self.child.id())?;
        let stat = Process::new(id)?.stat()?;
        let ticks = stat.utime + stat.stime;
        Ok(Duration::from_secs_f64(ticks as f64 / procfs::ticks_per_second() as f64))
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        // After `finish` it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Deserialize)]
struct Report {
    source: Source,
}

#[derive(Deserialize)]
struct Source {
    exchanges: u64,
    lost_events: u64,
}
