//! COPY, both ways: data that flows without requests.

use std::fs;

use anyhow::{Result, ensure};
use observer_tests::skip::skipped;

use super::Postgres;
use crate::told::tally;

#[test]
fn postgresql_copies_are_no_exchanges() -> Result<()> {
    if skipped("postgresql") {
        return Ok(());
    }
    let postgres = Postgres::start()?;
    postgres.client("psql", &["--no-psqlrc", "--command=CREATE TABLE numbers (number int)"])?;
    let file = postgres.directory.path().join("numbers");
    let observation = postgres.observe()?;
    postgres.client(
        "psql",
        &[
            "--no-psqlrc",
            &format!("--command=\\copy (SELECT generate_series(1, 100000)) TO {}", file.display()),
            &format!("--command=\\copy numbers FROM {}", file.display()),
            "--command=SELECT count(*) FROM numbers",
        ],
    )?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    ensure!(fs::read_to_string(&file)?.lines().count() == 100_000, "what was copied");
    let classes = tally(&recording.exchanges()?);
    ensure!(classes == [(("SELECT numbers".to_owned(), String::new()), 1)].into(), "{classes:?}");
    // One turn for the copy to the client; for the other one its statement, then the data.
    let counted = ["streaming", "handshake", "unanswered"].map(|reason| recording.unpaired(reason));
    let counted = counted.into_iter().collect::<Result<Vec<_>>>()?;
    ensure!(counted == [3, 1, 1], "{counted:?} turns of streaming, handshakes, farewells");
    Ok(())
}
