//! Statements that fail: with their SQLSTATE, and no less fast for it.

use anyhow::{Context as _, Result, ensure};
use observer_tests::{recording::by_connection, skip::skipped};

use super::{
    Postgres,
    session::{FAILED, IDLE, OPEN, Session},
};
use crate::told::{Told, check};

#[test]
fn postgresql_errors_have_their_state() -> Result<()> {
    if skipped("postgresql") {
        return Ok(());
    }
    let postgres = Postgres::start()?;
    let observation = postgres.observe()?;
    let mut session = Session::start(postgres.port)?;
    let told = [
        Told::fine("CREATE", session.query("CREATE TABLE things (name text PRIMARY KEY)", IDLE)?),
        Told::fine("INSERT things", session.query("INSERT INTO things VALUES ('one')", IDLE)?),
        Told::failed("INSERT things", "23505", session.query("INSERT INTO things VALUES ('one')", IDLE)?),
        Told::failed("SELECT nothing", "42P01", session.query("SELECT * FROM nothing", IDLE)?),
        Told::failed("SELECT things", "42703", session.query("SELECT nothing FROM things", IDLE)?),
        Told::failed("SELECT things", "22012", session.query("SELECT 1 / length('') FROM things", IDLE)?),
        Told::fine("BEGIN", session.query("BEGIN", OPEN)?),
        Told::failed("UPDATE things", "22P02", session.query("UPDATE things SET name = 'a'::int", FAILED)?),
        Told::failed("SELECT things", "25P02", session.query("SELECT * FROM things", FAILED)?),
        Told::fine("ROLLBACK", session.query("ROLLBACK", IDLE)?),
        Told::fine("SELECT things", session.query("SELECT * FROM things", IDLE)?),
    ];
    let connection = session.end()?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut seen = by_connection(recording.exchanges()?);
    check("postgresql", &told, &seen.remove(&connection).context("the session was not recorded")?)?;
    ensure!(seen.is_empty(), "connections that nobody made: {seen:#?}");
    Ok(())
}
