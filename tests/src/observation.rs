//! The observer as a child process that records what the tests do.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::{
    left_out::LeftOut,
    network::Namespace,
    process::{Lines, Programs, Running, succeed},
    recording::{self, Observed},
};

/// The line on standard error that says that the probes are attached.
const OBSERVING: &str = "observing";

/// How long the observer may take to attach, and to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running `observer record`.
#[derive(Debug)]
pub struct Observation {
    observer: PathBuf,
    running: Running,
    messages: Lines,
    directory: TempDir,
}

impl Observation {
    /// Starts `observer record` with further arguments, and waits until it observes.
    pub fn start(programs: &Programs, arguments: &[impl AsRef<OsStr>]) -> Result<Self> {
        Self::run(Command::new(&programs.observer), programs, arguments)
    }

    /// The same from within a network namespace.
    pub fn start_in(
        namespace: &Namespace,
        programs: &Programs,
        arguments: &[impl AsRef<OsStr>],
    ) -> Result<Self> {
        // Unlike `ip netns exec`, this leaves the mounts alone: the observer looks for control groups below /sys.
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", namespace.name())).arg(&programs.observer);
        Self::run(command, programs, arguments)
    }

    fn run(mut command: Command, programs: &Programs, arguments: &[impl AsRef<OsStr>]) -> Result<Self> {
        let directory = TempDir::new().context("make a directory for the recording")?;
        let mut running = Running::start(
            command
                .args(["record", "--duration", "10m", "--output"])
                .arg(directory.path().join(RECORDING))
                .args(arguments)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped()),
        )?;
        running.prefer()?;
        let mut messages = Lines::of(running.child().stderr.take().context("standard error is piped")?);
        wait_until_observing(&mut messages)?;
        Ok(Self { observer: programs.observer.clone(), running, messages, directory })
    }

    /// The observer's process id.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Sends the observer a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        self.running.signal(signal)
    }

    /// Interrupts the observer, which must end well, and takes over its recording.
    pub fn finish(mut self) -> Result<Recording> {
        self.running.signal(Signal::INT)?;
        let status = self.running.wait(PATIENCE)?;
        ensure!(status.success(), "observer record ended with {status}: {:?}", self.messages.seen());
        let path = self.directory.path().join(RECORDING);
        ensure!(path.exists(), "observer record left no recording: {:?}", self.messages.seen());
        Ok(Recording { observer: self.observer, path, directory: self.directory })
    }
}

const RECORDING: &str = "recording.parquet";

/// Reads messages until the observer says that it observes.
pub fn wait_until_observing(messages: &mut Lines) -> Result<()> {
    loop {
        match messages.next(PATIENCE) {
            Ok(line) if line == OBSERVING => return Ok(()),
            Ok(_) => {}
            Err(error) => bail!("the observer does not observe: {error}; it said {:?}", messages.seen()),
        }
    }
}

/// A finished recording; the file lives as long as this.
#[derive(Debug)]
pub struct Recording {
    observer: PathBuf,
    path: PathBuf,
    directory: TempDir,
}

impl Recording {
    /// The Parquet file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A directory that is removed together with the recording.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Every row.
    pub fn exchanges(&self) -> Result<Vec<Observed>> {
        recording::read(&self.path)
    }

    /// What `observer analyze --json` says about it.
    pub fn report(&self) -> Result<serde_json::Value> {
        let text =
            succeed(Command::new(&self.observer).arg("analyze").arg(&self.path).arg("--json"), PATIENCE)?;
        serde_json::from_str(&text).context("observer analyze --json prints JSON")
    }

    /// How many exchanges were lost.
    pub fn lost(&self) -> Result<u64> {
        self.report()?["source"]["lost_events"].as_u64().context("a report has source.lost_events")
    }

    /// How many turns were no certain pair, by reason.
    pub fn left_out(&self) -> Result<LeftOut> {
        let counts = serde_json::from_value(self.report()?["source"]["unpaired"].take())
            .context("a report has source.unpaired")?;
        Ok(LeftOut::new(counts))
    }

    /// How many turns were no certain pair, by one reason.
    pub fn unpaired(&self, reason: &str) -> Result<u64> {
        Ok(self.report()?["source"]["unpaired"][reason].as_u64().unwrap_or(0))
    }
}
