//! The lab's processes, as the one that starts them sees them.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;

use super::{error::LabError, message::Told, part::Part};

/// The hidden subcommand that plays a part.
pub const PART_COMMAND: &str = "demo-part";

/// How often a process that is about to end is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// How long a process that is not waited for may take to undo what it has done.
const UNDOING: Duration = Duration::from_secs(2);

/// One process of the lab. It is ended when this is dropped, and ends by itself when this process does.
#[derive(Debug)]
pub(super) struct Process {
    name: String,
    child: Child,
    told: Option<Receiver<Told>>,
    is_told_to_end: bool,
}

impl Process {
    /// Lets `program` play `part`. This starts no thread, which would keep whatever privileges this one gives up later.
    pub(super) fn start(program: &Path, name: String, part: &Part, input: Stdio) -> Result<Self, LabError> {
        let start = || {
            Command::new(program)
                .arg(PART_COMMAND)
                .arg(serde_json::to_string(part)?)
                .stdin(input)
                // What it tells. That the pipe is gone tells it that this process is.
                .stdout(Stdio::piped())
                // An interrupt from the terminal is for this process to handle.
                .process_group(0)
                .spawn()
        };
        match start() {
            Ok(child) => Ok(Self { name, child, told: None, is_told_to_end: false }),
            Err(source) => Err(LabError::Start { name, source }),
        }
    }

    /// Begins to take over what it tells.
    pub(super) fn listen(&mut self) -> Result<(), LabError> {
        let Some(output) = self.child.stdout.take() else { return Ok(()) };
        let (sender, told) = mpsc::channel();
        thread::Builder::new()
            .name("demo".into())
            .spawn(move || listen(output, &sender))
            .map_err(|source| LabError::Start { name: self.name.clone(), source })?;
        self.told = Some(told);
        Ok(())
    }

    /// Its number.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>, LabError> {
        self.child.try_wait().map_err(|source| LabError::Wait { name: self.name.clone(), source })
    }

    /// Whether that is as it should be. One that was told to end before it could listen has nothing to tell.
    pub(super) fn is_good(&self, status: ExitStatus) -> bool {
        status.success() || (self.is_told_to_end && status.signal() == Some(Signal::TERM.as_raw()))
    }

    /// The error that it ended, with `status`, where it should not have.
    pub(super) fn failed(&self, status: ExitStatus) -> LabError {
        LabError::ended(self.name.clone(), status)
    }

    /// Hands over a line on its standard input, and nothing after it.
    pub(super) fn order(&mut self, orders: &impl Serialize) -> Result<(), LabError> {
        let write = |mut input: ChildStdin| serde_json::to_writer(&mut input, orders);
        // One that ended early is noticed as such.
        self.child
            .stdin
            .take()
            .map_or(Ok(()), write)
            .map_err(|error| LabError::Start { name: self.name.clone(), source: error.into() })
    }

    /// Asks it to end.
    pub(super) fn terminate(&mut self) {
        self.is_told_to_end = true;
        // Once it is waited for, its number may be somebody else's.
        if matches!(self.child.try_wait(), Ok(None)) {
            kill_process(Pid::from_child(&self.child), Signal::TERM).ok();
        }
    }

    /// Waits for its end, at most for `patience`, and takes over what it has told.
    pub(super) fn finish(mut self, patience: Duration) -> Result<Vec<Told>, LabError> {
        match self.wait(patience)? {
            Some(status) if self.is_good(status) => Ok(self.told.iter().flatten().collect()),
            Some(status) => Err(self.failed(status)),
            None => Err(LabError::Stuck { name: self.name.clone() }),
        }
    }

    fn wait(&mut self, patience: Duration) -> Result<Option<ExitStatus>, LabError> {
        let start = Instant::now();
        loop {
            match self.ended()? {
                None if start.elapsed() < patience => thread::sleep(LOOK),
                status => return Ok(status),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.ended(), Ok(Some(_))) {
            return;
        }
        self.terminate();
        if !matches!(self.wait(UNDOING), Ok(Some(_))) {
            // Fails only where it has ended meanwhile.
            self.child.kill().ok();
            self.child.wait().ok();
        }
    }
}

/// Takes over what a process tells, until its end. A last line that it did not finish is left out.
fn listen(output: ChildStdout, sender: &mpsc::Sender<Told>) {
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    for told in lines.map_while(|line| serde_json::from_str(&line).ok()) {
        if sender.send(told).is_err() {
            return;
        }
    }
}
