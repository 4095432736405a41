//! Packet captures of the loopback device, taken by tcpdump while a test runs.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::process::{Lines, Programs, Running, succeed};

/// How long tcpdump may take to begin, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long packets may take from the device to the capturing program.
const ON_THEIR_WAY: Duration = Duration::from_millis(200);

/// A running capture.
#[derive(Debug)]
pub struct Capturing {
    running: Running,
    messages: Lines,
    directory: TempDir,
}

impl Capturing {
    /// Captures what passes on these ports.
    pub fn start(ports: &[u16]) -> Result<Self> {
        let directory = TempDir::new().context("make a directory for the capture")?;
        let filter: Vec<String> = ports.iter().map(|port| format!("tcp port {port}")).collect();
        let mut running = Running::start(
            Command::new("tcpdump")
                // The buffer holds as many packets as fit at their largest: on loopback that is a quarter of what
                // tcpdump assumes.
                .args(["-i", "lo", "-n", "-U", "-Z", "root", "--immediate-mode"])
                .args(["-s", "66000", "-B", "65536", "-w"])
                .arg(directory.path().join(CAPTURE))
                .arg(filter.join(" or "))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped()),
        )?;
        running.prefer()?;
        let mut messages = Lines::of(running.child().stderr.take().context("standard error is piped")?);
        loop {
            match messages.next(PATIENCE) {
                Ok(line) if line.contains("listening on") => break,
                Ok(_) => {}
                Err(error) => bail!("tcpdump does not capture: {error}; it said {:?}", messages.seen()),
            }
        }
        Ok(Self { running, messages, directory })
    }

    /// Ends the capture, of which nothing may be missing.
    pub fn finish(mut self) -> Result<Capture> {
        thread::sleep(ON_THEIR_WAY);
        self.running.signal(Signal::INT)?;
        let status = self.running.wait(PATIENCE)?;
        let messages = self.messages.seen();
        ensure!(status.success(), "tcpdump ended with {status}: {messages:?}");
        ensure!(
            messages.iter().any(|line| line == "0 packets dropped by kernel"),
            "the capture is not complete: {messages:?}"
        );
        Ok(Capture { path: self.directory.path().join(CAPTURE), directory: self.directory })
    }
}

const CAPTURE: &str = "capture.pcap";

/// A finished capture; the file lives as long as this.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    directory: TempDir,
}

impl Capture {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A directory that is removed together with the capture.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// What `observer analyze --json` says about a file.
pub fn analyze(programs: &Programs, path: &Path, arguments: &[&str]) -> Result<Value> {
    let mut command = Command::new(&programs.observer);
    command.arg("analyze").arg(path).arg("--json").args(arguments);
    serde_json::from_str(&succeed(&mut command, PATIENCE)?).context("observer analyze --json prints JSON")
}
