//! MariaDB.

mod connector;
mod programs;

use std::{fs, os::unix::fs::chown, process::Command};

use anyhow::{Context as _, Result, ensure};
use observer_tests::{
    observation::{Observation, Recording},
    process::{Programs, Running},
};

use crate::server::{free_port, program, serve};

/// A server of tables in memory, which asks for no password.
struct Mariadb {
    port: u16,
    _server: Running,
    _directory: tempfile::TempDir,
}

impl Mariadb {
    fn start() -> Result<Self> {
        let (port, directory) = (free_port()?, tempfile::TempDir::new()?);
        let (user, group) = user()?;
        chown(directory.path(), Some(user), Some(group))?;
        let path = directory.path().display();
        let mut command = Command::new(program("mariadbd")?);
        command
            // Before all others.
            .arg("--no-defaults")
            .args(["--user=mysql", "--bind-address=127.0.0.1", &format!("--port={port}")])
            .args([&format!("--datadir={path}"), &format!("--socket={path}/socket")])
            .args([&format!("--pid-file={path}/pid"), "--skip-grant-tables", "--skip-innodb"])
            .args(["--default-storage-engine=MEMORY", "--skip-log-bin"]);
        Ok(Self { port, _server: serve(&mut command, port)?, _directory: directory })
    }

    fn observe(&self) -> Result<Observation> {
        Observation::start(&Programs::beside_tests()?, &["--port", &self.port.to_string()])
    }
}

/// A connection begins with two turns that ask nothing of the server: its greeting, and the login. It ends with one
/// that has no answer, as the end of a prepared statement has none.
fn check_formalities(recording: &Recording, connections: u64, statements: u64) -> Result<()> {
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let (handshakes, farewells) = (recording.unpaired("handshake")?, recording.unpaired("unanswered")?);
    ensure!(
        (handshakes, farewells) == (2 * connections, connections + statements),
        "{handshakes} handshakes and {farewells} farewells of {connections} connections, {statements} statements"
    );
    Ok(())
}

/// User and group of `mysql`.
fn user() -> Result<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd")?;
    let line = users.lines().find(|line| line.starts_with("mysql:")).context("there is a user mysql")?;
    let mut fields = line.split(':').skip(2);
    let mut number = || -> Result<u32> { Ok(fields.next().context("a user has ids")?.parse()?) };
    Ok((number()?, number()?))
}
