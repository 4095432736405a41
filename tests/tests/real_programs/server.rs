//! Starting servers, and finding programs.

use std::{
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use observer_tests::process::Running;

/// How long a load generator may take.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// How long a server may take until it accepts connections.
const START: Duration = Duration::from_secs(30);

/// A port on loopback that nobody listens on.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Starts a server and waits until it accepts connections.
pub(crate) fn serve(command: &mut Command, port: u16) -> Result<Running> {
    let mut running =
        Running::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))?;
    let deadline = Instant::now() + START;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if let Some(status) = running.child().try_wait()? {
            bail!("{command:?} ended with {status}");
        }
        if Instant::now() > deadline {
            bail!("{command:?} does not listen on port {port}");
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(running)
}

/// A program by its name, on the path or where Debian keeps what only administrators use.
pub(crate) fn program(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").context("there is a search path")?;
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/bin"].map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|program| program.exists())
        .with_context(|| format!("{name} is not installed: run the tests with `cargo xtask test`"))
}
