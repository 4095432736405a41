//! What a short look at the lab makes the observer say: the cause that it is, or that a longer look is needed. Never a
//! copy of a request to a store that stands still for everybody.

use anyhow::{Context as _, Result, ensure};
use observer::demo::{Cause, Wire};

use crate::run::Run;

/// What the report of a run names and advises.
fn said(cause: Cause, duration: &str) -> Result<(Run, String, String)> {
    let run = Run::lasting(cause, Wire::Http1, duration)?;
    let text = |of: &str, field: &str| {
        let text = run.service()[of][field].as_str().map(ToOwned::to_owned);
        text.with_context(|| format!("a report has {of}.{field}: {}", run.service()))
    };
    let (verdict, action) = (text("verdict", "cause")?, text("recommendation", "action")?);
    ensure!(!text("verdict", "summary")?.is_empty(), "a verdict without a word");
    ensure!(
        (verdict == "insufficient") == (action == "wait"),
        "'{verdict}' and '{action}' do not go together"
    );
    Ok((run, verdict, action))
}

fn is_one_of(what: &str, said: &str, defensible: &[&str], run: &Run) -> Result<()> {
    ensure!(
        defensible.contains(&said),
        "{what} '{said}', not one of {defensible:?}: {}; the faults were {:?}",
        run.service()["verdict"],
        run.truth.faults
    );
    Ok(())
}

/// Replicas stop by themselves, each at times of its own, in turn: with only three of them that may look like two
/// things at once, and never as if it struck all.
#[test]
fn single_replicas_that_stop_are_a_reason_for_second_copies() -> Result<()> {
    let (run, cause, action) = said(Cause::Independent, "8s")?;
    is_one_of("cause", &cause, &["independent", "independent-or-request", "mixed", "insufficient"], &run)?;
    is_one_of("action", &action, &["hedge", "canary", "wait"], &run)
}

#[test]
fn a_store_that_stands_still_is_never_a_reason_for_second_copies() -> Result<()> {
    let (run, cause, action) = said(Cause::Shared, "8s")?;
    is_one_of("cause", &cause, &["shared", "insufficient"], &run)?;
    is_one_of("action", &action, &["do-not-hedge", "wait"], &run)
}

#[test]
fn one_replica_that_wants_for_processor_time_is_to_be_taken_out() -> Result<()> {
    let (run, cause, action) = said(Cause::Instance, "8s")?;
    is_one_of("cause", &cause, &["instance", "insufficient"], &run)?;
    is_one_of("action", &action, &["eject", "wait"], &run)?;
    if cause == "instance" {
        let elevated = run.service()["verdict"]["elevated"].as_array().context("it names whom")?;
        let first = run.instances()[0].to_string();
        ensure!(elevated.len() == 1 && elevated[0] == first.as_str(), "{elevated:?} instead of {first}");
    }
    Ok(())
}
