//! PostgreSQL under pgbench, with its log of every transaction.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use observer_common::Nanoseconds;
use observer_tests::{
    observation::Observation,
    process::{Programs, succeed},
    recording::{Observed, by_connection},
    skip::{all, skipped},
};
use rustix::process::Signal;

use crate::{
    compare::{Measured, compare, quantiles_of},
    server::{PATIENCE, free_port, serve},
};

const CLIENTS: usize = 8;

#[test]
fn postgresql_under_pgbench() -> Result<()> {
    if skipped("postgresql") {
        return Ok(());
    }
    let transactions = if all() { 50_000 } else { 4_000 };
    let postgres = Postgres::new()?;
    let mut server = serve(&mut postgres.server()?, postgres.port)?;
    postgres.client("pgbench", &["--initialize", "--quiet", "--scale=1"])?;
    let observation =
        Observation::start(&Programs::beside_tests()?, &["--port", &postgres.port.to_string()])?;
    let prefix = postgres.directory.path().join("log");
    postgres.client(
        "pgbench",
        &[
            "--select-only",
            "--no-vacuum",
            "--log",
            &format!("--log-prefix={}", prefix.display()),
            &format!("--client={CLIENTS}"),
            &format!("--transactions={transactions}"),
        ],
    )?;
    // A client's last word is only cancelled once its connection is gone, and that is the server's to say.
    server.signal(Signal::INT)?;
    server.wait(PATIENCE)?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");

    // A connection without encryption and password has one turn to start up (StartupMessage, then everything up to
    // ReadyForQuery). A transaction of --select-only is one statement of the simple protocol: one turn (Query, then
    // everything up to ReadyForQuery). At its end the client says Terminate, which has no answer, and closes: a
    // request that the client cancelled, or, where the server closes first, that it reset.
    let (mut exchanges, mut clients, mut others) = (Vec::new(), 0, Vec::new());
    for mut rows in by_connection(recording.exchanges()?).into_values() {
        let terminate = rows.pop().context("a connection has exchanges")?;
        ensure!(["cancelled", "reset"].contains(&terminate.outcome.as_str()), "no Terminate: {terminate:?}");
        ensure!(rows.iter().all(|row| row.outcome == "ok"), "a statement without an answer");
        if rows.len() == transactions + 1 {
            clients += 1;
            exchanges.extend(rows.into_iter().skip(1));
        } else {
            others.push(rows.len());
        }
    }
    // Before it begins, pgbench looks at its tables over a connection of its own.
    ensure!(
        clients == CLIENTS && others.len() == 1,
        "{clients} clients; turns of other connections: {others:?}"
    );
    let logged = logged(&prefix)?;
    ensure!(
        exchanges.len() == logged.len() && logged.len() == CLIENTS * transactions,
        "{} exchanges, and pgbench logs {} transactions",
        exchanges.len(),
        logged.len()
    );
    compare_with(logged, &exchanges)
}

fn compare_with(logged: Vec<u64>, exchanges: &[Observed]) -> Result<()> {
    let measured = Measured {
        name: "pgbench",
        quantiles: quantiles_of(logged),
        // Two readings of a clock of whole microseconds.
        resolution: Nanoseconds(1_000),
        expected_interval: None,
    };
    compare(&measured, exchanges)
}

/// Every transaction's latency, from the log's third column, in microseconds.
fn logged(prefix: &Path) -> Result<Vec<u64>> {
    let name = prefix.file_name().context("a prefix has a name")?.to_string_lossy().into_owned();
    let mut latencies = Vec::new();
    for entry in fs::read_dir(prefix.parent().context("a prefix has a directory")?)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&format!("{name}.")) {
            for line in fs::read_to_string(entry.path())?.lines() {
                let microseconds = line.split(' ').nth(2).context("a transaction has a latency")?;
                latencies.push(microseconds.parse::<u64>()? * 1_000);
            }
        }
    }
    Ok(latencies)
}

/// A cluster in a directory of its own, run by the user that the distribution's package made.
struct Postgres {
    programs: PathBuf,
    directory: tempfile::TempDir,
    port: u16,
}

impl Postgres {
    fn new() -> Result<Self> {
        let directory = tempfile::TempDir::new()?;
        let (user, group) = user()?;
        chown(directory.path(), Some(user), Some(group))?;
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700))?;
        let postgres = Self { programs: programs()?, directory, port: free_port()? };
        let data = postgres.directory.path().join("data");
        succeed(postgres.run("initdb")?.args(["--auth=trust", "--no-sync", "--pgdata"]).arg(data), PATIENCE)?;
        Ok(postgres)
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

    fn server(&self) -> Result<Command> {
        let mut command = self.run("postgres")?;
        command
            .arg("-D")
            .arg(self.directory.path().join("data"))
            .arg("-k")
            .arg(self.directory.path())
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-F", "-c", "autovacuum=off"]);
        Ok(command)
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
