//! The demo's processes: this very program, started again, and ended with whoever started it.

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::DemoError;

/// How often a process that is about to end is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// One process of the demo. It is killed when this is dropped, and ends by itself when this process does.
#[derive(Debug)]
pub(super) struct Process {
    name: String,
    child: Child,
}

impl Process {
    /// Runs this program's hidden `subcommand`.
    pub(super) fn start(
        name: String,
        subcommand: &str,
        arguments: Vec<OsString>,
        input: Stdio,
    ) -> Result<Self, DemoError> {
        let child = env::current_exe()
            .and_then(|program| {
                Command::new(program)
                    .arg(subcommand)
                    .args(arguments)
                    .stdin(input)
                    // The pipe tells the child when this process is gone.
                    .stdout(Stdio::piped())
                    // An interrupt from the terminal is for this process to handle.
                    .process_group(0)
                    .spawn()
            })
            .map_err(|source| DemoError::Start { name: name.clone(), source })?;
        Ok(Self { name, child })
    }

    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Result<Option<ExitStatus>, DemoError> {
        self.child.try_wait().map_err(|source| DemoError::Wait { name: self.name.clone(), source })
    }

    /// The error that it ended, with `status`, where it should not have.
    pub(super) fn failed(&self, status: ExitStatus) -> DemoError {
        DemoError::Ended { name: self.name.clone(), status }
    }

    /// Closes the pipe that is its standard input.
    pub(super) fn close_input(&mut self) {
        self.child.stdin = None;
    }

    /// Waits for its end, at most for `patience`.
    pub(super) fn wait(&mut self, patience: Duration) -> Result<(), DemoError> {
        let start = Instant::now();
        loop {
            match self.ended()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(self.failed(status)),
                None if start.elapsed() > patience => {
                    return Err(DemoError::Stuck { name: self.name.clone() });
                }
                None => thread::sleep(LOOK),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
