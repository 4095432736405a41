//! PostgreSQL.

mod copy;
mod errors;
mod logins;
mod notifications;
mod pgbench;
mod session;

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::PathBuf,
    process::Command,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use observer_tests::{
    observation::Observation,
    process::{Programs, Running, succeed},
};
use rustix::process::Signal;

use crate::server::{PATIENCE, free_port, serve};

/// A cluster in a directory of its own, run by the user that the distribution's package made.
struct Postgres {
    programs: PathBuf,
    directory: tempfile::TempDir,
    port: u16,
    server: Option<Running>,
}

impl Postgres {
    fn start() -> Result<Self> {
        let directory = tempfile::TempDir::new()?;
        let (user, group) = user()?;
        chown(directory.path(), Some(user), Some(group))?;
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700))?;
        let mut postgres = Self { programs: programs()?, directory, port: free_port()?, server: None };
        let data = postgres.directory.path().join("data");
        succeed(postgres.run("initdb")?.args(["--auth=trust", "--no-sync", "--pgdata"]).arg(data), PATIENCE)?;
        let mut command = postgres.run("postgres")?;
        command
            .arg("-D")
            .arg(postgres.directory.path().join("data"))
            .arg("-k")
            .arg(postgres.directory.path())
            .args(["-h", "127.0.0.1", "-p", &postgres.port.to_string(), "-F", "-c", "autovacuum=off"]);
        postgres.server = Some(serve(&mut command, postgres.port)?);
        // It accepts connections before it lets anybody in.
        let port = postgres.port.to_string();
        for _ in 0..1_000 {
            let mut ready = postgres.run("pg_isready")?;
            if succeed(ready.args(["--quiet", "--host=127.0.0.1", "--port", &port]), PATIENCE).is_ok() {
                return Ok(postgres);
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("PostgreSQL does not come up")
    }

    /// One of PostgreSQL's programs, as its user.
    fn run(&self, program: &str) -> Result<Command> {
        let (user, group) = user()?;
        let mut command = Command::new("setpriv");
        command
            .args([&format!("--reuid={user}"), &format!("--regid={group}"), "--clear-groups"])
            .arg(self.programs.join(program))
            .current_dir(self.directory.path());
        Ok(command)
    }

    /// Starts to observe its clients.
    fn observe(&self) -> Result<Observation> {
        Observation::start(&Programs::beside_tests()?, &["--port", &self.port.to_string()])
    }

    fn client(&self, program: &str, arguments: &[&str]) -> Result<String> {
        succeed(
            self.run(program)?
                .args(["--host=127.0.0.1", &format!("--port={}", self.port)])
                .args(arguments)
                .arg("postgres")
                // Each of these would be a turn of its own.
                .envs([("PGSSLMODE", "disable"), ("PGGSSENCMODE", "disable")]),
            PATIENCE,
        )
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Killed, the server would leave its workers to find out for themselves.
        if let Some(server) = &mut self.server {
            let _ = server.signal(Signal::INT);
            let _ = server.wait(PATIENCE);
        }
    }
}

/// User and group of `postgres`.
fn user() -> Result<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd")?;
    let line =
        users.lines().find(|line| line.starts_with("postgres:")).context("there is a user postgres")?;
    let mut fields = line.split(':').skip(2);
    let mut number = || -> Result<u32> { Ok(fields.next().context("a user has ids")?.parse()?) };
    Ok((number()?, number()?))
}

/// The directory of the newest version's programs: the distribution keeps the server's off the path.
fn programs() -> Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .context("PostgreSQL is not installed: run the tests with `cargo xtask test`")?;
    let mut directories: Vec<PathBuf> =
        versions.map(|entry| Ok(entry?.path().join("bin"))).collect::<Result<_>>()?;
    directories.retain(|directory| directory.join("postgres").exists() && directory.join("pgbench").exists());
    directories.sort();
    directories.pop().context("PostgreSQL's server and pgbench are not installed")
}
