//! LISTEN and NOTIFY: what comes unasked is no exchange.

use anyhow::{Context as _, Result, ensure};
use observer_tests::{recording::by_connection, skip::skipped};

use super::{
    Postgres,
    session::{IDLE, Session},
};
use crate::told::{Told, check, tally};

const NOTIFICATIONS: usize = 50;

#[test]
fn postgresql_notifications_are_no_exchanges() -> Result<()> {
    if skipped("postgresql") {
        return Ok(());
    }
    let postgres = Postgres::start()?;
    let observation = postgres.observe()?;
    let (mut listener, mut notifier) = (Session::start(postgres.port)?, Session::start(postgres.port)?);
    listener.query("LISTEN news", IDLE)?;
    let mut told = Vec::new();
    for _ in 0..NOTIFICATIONS {
        told.push(Told::fine("NOTIFY", notifier.query("NOTIFY news, 'told'", IDLE)?));
        listener.client.hear_until(b"told\0")?;
    }
    listener.query("SELECT 1 FROM pg_database", IDLE)?;
    let (listener, notifier) = (listener.end()?, notifier.end()?);
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut seen = by_connection(recording.exchanges()?);
    check("postgresql", &told, &seen.remove(&notifier).context("the notifier was not recorded")?)?;
    let heard = tally(&seen.remove(&listener).context("the listener was not recorded")?);
    let expected = ["LISTEN", "SELECT pg_database"].map(|class| ((class.to_owned(), String::new()), 1));
    ensure!(heard == expected.into(), "{heard:?}");
    ensure!(seen.is_empty(), "connections that nobody made: {seen:#?}");
    Ok(())
}
