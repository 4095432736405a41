//! MariaDB's own programs: its command line, and its load generator.

use std::process::Command;

use anyhow::{Result, ensure};
use observer_tests::{
    process::{output, succeed},
    skip::{all, skipped},
};

use super::{Mariadb, check_formalities};
use crate::{
    server::{PATIENCE, program},
    told::tally,
};

/// How many clients generate load.
const CLIENTS: usize = 4;

/// An error ends the program.
const STATEMENTS: [&str; 2] = [
    "CREATE DATABASE shop; CREATE TABLE shop.things (number INT PRIMARY KEY);
        INSERT INTO shop.things VALUES (1); INSERT INTO shop.things VALUES (1);",
    "SELECT * FROM shop.things; SELECT * FROM shop.nothing",
];

#[test]
fn mariadb_under_its_own_programs() -> Result<()> {
    if skipped("mariadb") {
        return Ok(());
    }
    let queries = if all() { 200_000 } else { 10_000 };
    let mariadb = Mariadb::start()?;
    let port = format!("--port={}", mariadb.port);
    let connection = ["--no-defaults", "--host=127.0.0.1", &port, "--user=root"];
    let observation = mariadb.observe()?;
    for statements in STATEMENTS {
        let (_, errors, status) = output(
            Command::new(program("mariadb")?).args(connection).args(["--skip-ssl", "--execute", statements]),
            PATIENCE,
        )?;
        ensure!(!status.success() && errors.contains("ERROR"), "no error ended it: {errors}");
    }
    let recording = observation.finish()?;
    check_formalities(&recording, STATEMENTS.len() as u64, 0)?;
    let seen = tally(&recording.exchanges()?);
    let expected = [
        (("CREATE", ""), 2),
        (("INSERT things", ""), 1),
        (("INSERT things", "1062"), 1),
        (("SELECT things", ""), 1),
        (("SELECT nothing", "1146"), 1),
    ];
    let expected = expected.map(|((class, status), count)| ((class.to_owned(), status.to_owned()), count));
    ensure!(seen == expected.into(), "{seen:?}");

    let observation = mariadb.observe()?;
    succeed(
        Command::new(program("mariadb-slap")?)
            .args(connection)
            .args(["--protocol=tcp", "--create-schema=shop", "--no-drop", "--skip-ssl"])
            .args(["--query=SELECT number FROM things WHERE number = 1"])
            .args([&format!("--concurrency={CLIENTS}"), &format!("--number-of-queries={queries}")]),
        PATIENCE,
    )?;
    let recording = observation.finish()?;
    // It looks at the server over a connection of its own first.
    check_formalities(&recording, CLIENTS as u64 + 1, 0)?;
    let seen = tally(&recording.exchanges()?);
    ensure!(seen == [(("SELECT things".to_owned(), String::new()), queries)].into(), "{seen:?}");
    Ok(())
}
