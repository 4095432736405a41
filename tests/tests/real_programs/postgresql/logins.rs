//! Logins with a password: turns that ask nothing of the service.

use std::{fs, io::Write as _};

use anyhow::{Result, ensure};
use observer_tests::{process::succeed, skip::skipped};

use super::Postgres;
use crate::{server::PATIENCE, told::tally};

#[test]
fn postgresql_logins_are_handshakes() -> Result<()> {
    if skipped("postgresql") {
        return Ok(());
    }
    let postgres = Postgres::start()?;
    let rules = postgres.directory.path().join("data/pg_hba.conf");
    let trusting = fs::read_to_string(&rules)?;
    // The first rule that fits decides.
    fs::File::create(&rules)?
        .write_all(format!("host all guest 127.0.0.1/32 scram-sha-256\n{trusting}").as_bytes())?;
    postgres.client(
        "psql",
        &[
            "--no-psqlrc",
            "--command=CREATE ROLE guest LOGIN PASSWORD 'secret'",
            "--command=SELECT pg_reload_conf()",
        ],
    )?;
    let observation = postgres.observe()?;
    let logins = 5;
    for _ in 0..logins {
        succeed(
            postgres
                .run("psql")?
                .args(["--no-psqlrc", "--host=127.0.0.1", &format!("--port={}", postgres.port)])
                .args(["--username=guest", "--command=SELECT count(*) FROM pg_database", "postgres"])
                .envs([("PGSSLMODE", "disable"), ("PGGSSENCMODE", "disable"), ("PGPASSWORD", "secret")]),
            PATIENCE,
        )?;
    }
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let classes = tally(&recording.exchanges()?);
    let expected = [(("SELECT pg_database".to_owned(), String::new()), logins)];
    ensure!(classes == expected.into(), "{classes:?}");
    // The start of a session, and two turns of SCRAM (RFC 5802).
    let (handshakes, farewells) = (recording.unpaired("handshake")?, recording.unpaired("unanswered")?);
    let logins = logins as u64;
    ensure!(
        (handshakes, farewells) == (3 * logins, logins),
        "{handshakes} handshakes, {farewells} farewells"
    );
    Ok(())
}
