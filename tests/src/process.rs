//! Child processes that never outlive the test, and where the programs under test are.

use std::{
    ffi::OsString,
    io::{BufRead as _, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process, setpriority_process};

/// A child process that is killed when it is dropped.
#[derive(Debug)]
pub struct Running {
    name: String,
    child: Child,
}

impl Running {
    /// Starts `command`.
    pub fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().with_context(|| format!("start {name}"))?;
        Ok(Self { name, child })
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The child itself, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.pid()?, signal).with_context(|| format!("send {signal:?} to {}", self.name))
    }

    /// Lets the process run before others. Under test is whether the observer is right, not whether it still gets a
    /// share of the processors that a hundred busy threads compete for.
    pub fn prefer(&self) -> Result<()> {
        setpriority_process(Some(self.pid()?), -15).with_context(|| format!("renice {}", self.name))
    }

    fn pid(&self) -> Result<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("an impossible pid")
    }

    /// Waits until the process has ended.
    pub fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() > deadline {
                bail!("{} did not end within {limit:?}", self.name);
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the process has ended, and well.
    pub fn succeed(&mut self, limit: Duration) -> Result<()> {
        let status = self.wait(limit)?;
        if !status.success() {
            bail!("{} ended with {status}", self.name);
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only where the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines that a child writes, read as they come, so that it never waits for us.
#[derive(Debug)]
pub struct Lines {
    receiver: Receiver<String>,
    seen: Vec<String>,
}

impl Lines {
    /// Reads `source` until its end.
    pub fn of(source: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(source).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { receiver, seen: Vec::new() }
    }

    /// The next line.
    pub fn next(&mut self, limit: Duration) -> Result<&str> {
        let line = self.receiver.recv_timeout(limit).map_err(|_| anyhow!("no line came within {limit:?}"))?;
        self.seen.push(line);
        Ok(self.seen.last().map_or("", String::as_str))
    }

    /// All lines so far; all lines at all, once the child has ended.
    pub fn seen(&mut self) -> &[String] {
        // The reader may still be behind the end of the child by a moment.
        while let Ok(line) = self.receiver.recv_timeout(Duration::from_millis(200)) {
            self.seen.push(line);
        }
        &self.seen
    }
}

/// Runs `command` to its end and returns what it wrote to standard output and standard error, and how it ended.
pub fn output(command: &mut Command, limit: Duration) -> Result<(String, String, ExitStatus)> {
    use std::process::Stdio;
    let mut running =
        Running::start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let output = running.child().stdout.take().context("standard output is piped")?;
    let errors = running.child().stderr.take().context("standard error is piped")?;
    let output = thread::spawn(move || text(output));
    let errors = thread::spawn(move || text(errors));
    let status = running.wait(limit)?;
    let join = |thread: thread::JoinHandle<String>| thread.join().map_err(|_| anyhow!("a reader panicked"));
    Ok((join(output)?, join(errors)?, status))
}

/// Runs `command` to its end, which must be a good one, and returns its standard output.
pub fn succeed(command: &mut Command, limit: Duration) -> Result<String> {
    let (output, errors, status) = output(command, limit)?;
    if !status.success() {
        bail!("{command:?} ended with {status}: {output}{errors}");
    }
    Ok(output)
}

fn text(mut source: impl Read) -> String {
    let mut bytes = Vec::new();
    // What was written before the error is still worth showing.
    let _ = source.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where the programs under test are, each with the arguments that come before its own.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The observer.
    pub observer: PathBuf,
    /// The logging client.
    pub client: Vec<OsString>,
    /// The logging server.
    pub server: Vec<OsString>,
}

impl Programs {
    /// The programs that cargo built next to the running test.
    pub fn beside_tests() -> Result<Self> {
        let test = std::env::current_exe()?;
        let directory =
            test.parent().and_then(Path::parent).context("the test lies in target/<profile>/deps")?;
        let observer = directory.join("observer");
        if !observer.exists() {
            bail!("{} is not built: run the tests with `cargo xtask test`", observer.display());
        }
        Ok(Self {
            observer,
            client: vec![directory.join("logging-client").into()],
            server: vec![directory.join("logging-server").into()],
        })
    }

    /// A command that runs the logging client.
    pub fn client(&self) -> Result<Command> {
        command(&self.client)
    }

    /// A command that runs the logging server.
    pub fn server(&self) -> Result<Command> {
        command(&self.server)
    }
}

fn command(words: &[OsString]) -> Result<Command> {
    let (program, arguments) = words.split_first().context("a program has a name")?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}
