//! MySQL's connector for Python: simple and prepared statements.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use observer_tests::{
    process::succeed,
    python::python,
    recording::Observed,
    skip::{all, skipped},
};

use super::{Mariadb, check_formalities};
use crate::server::PATIENCE;

#[test]
fn mariadb_under_a_connector() -> Result<()> {
    if skipped("mariadb") || skipped("python") {
        return Ok(());
    }
    let rounds = if all() { 5_000 } else { 200 };
    let mariadb = Mariadb::start()?;
    let observation = mariadb.observe()?;
    let printed = succeed(
        python()?
            .args(["-c", include_str!("connector.py"), &mariadb.port.to_string(), &rounds.to_string()])
            .stdin(Stdio::null()),
        PATIENCE,
    )?;
    let recording = observation.finish()?;
    // Two statements were prepared.
    check_formalities(&recording, 1, 2)?;

    let mut lines = printed.lines();
    let begun: u64 = lines.next().context("when it began")?.parse()?;
    let mut rows = recording.exchanges()?;
    rows.sort_by_key(|row| row.start);
    // The connector begins with a few statements of its own.
    let (own, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.start.0 < begun);
    ensure!(own.iter().all(|row| row.class.as_deref().is_some_and(|class| class == "SET")), "{own:#?}");
    let mut rows = rows.into_iter();
    for line in lines {
        check(line, &mut rows).with_context(|| line.to_owned())?;
    }
    let left: Vec<Observed> = rows.collect();
    ensure!(left.is_empty(), "exchanges that nobody asked for: {left:#?}");
    Ok(())
}

/// One call of the client is just these exchanges, all of them within its own time, and the last with its error.
fn check(line: &str, rows: &mut impl Iterator<Item = Observed>) -> Result<()> {
    let words: Vec<&str> = line.splitn(4, ' ').collect();
    let [before, after, error, classes] = words[..] else { anyhow::bail!("not a call") };
    let (mut before, after): (u64, u64) = (before.parse()?, after.parse()?);
    let mut error = (error != "-").then_some(error);
    let classes: Vec<&str> = classes.split('+').collect();
    for (index, class) in classes.iter().enumerate() {
        let row = rows.next().context("an exchange was not recorded")?;
        let last = index + 1 == classes.len();
        let status = if last { error.take() } else { None };
        let seen = row.class.as_deref().unwrap_or_default();
        // Of a statement without a table, only a hash is told.
        ensure!(if class.is_empty() { seen.contains('#') } else { seen == *class }, "{row:?}");
        ensure!(row.status.as_deref() == status && row.failed == status.is_some(), "{row:?}");
        ensure!(row.protocol.as_deref() == Some("mysql") && row.outcome == "ok", "{row:?}");
        let read = row.read_at().context("the answer was read")?;
        ensure!(before <= row.start.0 && read.0 <= after, "not within the call: {row:?}");
        before = read.0;
    }
    Ok(())
}
