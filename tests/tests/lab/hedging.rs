//! The hedging client on real sockets: it does for a system what its policy says, and no more.

use std::{collections::HashMap, time::Duration};

use anyhow::{Context as _, Result, ensure};
use observer::{
    demo::{
        Balancing, Cause, Ending, Scenario, ServiceTime, Truth, Wire,
        hedging::{Attempt, Policy, Second},
        run,
    },
    quantity::Share,
};
use observer_tests::process::Programs;

const DELAY: Duration = Duration::from_millis(50);

/// One request in fifty takes long, by chance and at whichever replica: what hedging is for.
fn hedged(wire: Wire) -> Result<Truth> {
    let mut scenario = Scenario::of(Cause::NoTail);
    scenario.system.service =
        ServiceTime::two_kinds(Duration::from_millis(5), Duration::from_millis(400), Share::percent(2));
    scenario.system.balancing = Balancing::TwoChoices;
    scenario.system.duration = Duration::from_millis(2_500);
    scenario.system.wire = wire;
    scenario.hedging = Some(Policy::after(DELAY));
    Ok(run(&Programs::beside_tests()?.observer, &scenario)?)
}

fn copies_of_late_requests_go_elsewhere_within_the_budget(wire: Wire) -> Result<()> {
    let truth = hedged(wire)?;
    let counts = truth.counts.context("a hedging client counts")?;
    let hedges = truth.copies.iter().filter(|copy| copy.attempt == Attempt::Hedge).count();
    ensure!(counts.primaries == truth.requests.len() as u64 && counts.hedges == hedges as u64, "{counts:?}");
    ensure!(20 * counts.hedges <= counts.primaries, "more than one in twenty was hedged: {counts:?}");
    ensure!(counts.hedged.won_by_hedge > 0, "no copy was ever faster: {counts:?}");

    let summary = truth.summary();
    let fastest = summary.hedged.quantile(0.0).context("some were hedged")?;
    ensure!(
        Duration::from_nanos(fastest.0) >= DELAY,
        "a hedged request took {fastest:?}, less than the delay"
    );
    ensure!(summary.failed == 0 && summary.executions_per_request <= 1.05, "{summary:?}");

    let mut copies = HashMap::<u64, Vec<_>>::new();
    for copy in &truth.copies {
        copies.entry(copy.request).or_default().push(copy);
    }
    for request in &truth.requests {
        let copies = &copies[&request.request];
        if request.second != Second::Sent {
            ensure!(copies.len() == 1, "{request:?} was sent {} times", copies.len());
            continue;
        }
        let [primary, hedge] = copies[..] else {
            anyhow::bail!("{request:?} was sent {} times", copies.len())
        };
        ensure!(primary.instance != hedge.instance, "{request:?} went to {} twice", hedge.instance);
        let delay = hedge.start.since(primary.start).context("the copy left first")?;
        ensure!(Duration::from_nanos(delay.0) + Duration::from_millis(1) >= DELAY, "it left after {delay:?}");
        let winner = request.winner.context("a request without an answer")?;
        for copy in [primary, hedge] {
            let is_answered = matches!(copy.ending, Ending::Answered { .. });
            ensure!(is_answered == (copy.attempt == winner), "{winner:?} won, but {copy:?}");
        }
    }
    losers_are_cancelled_at_the_replica(&truth)
}

#[test]
fn in_http1_copies_of_late_requests_go_elsewhere_within_the_budget() -> Result<()> {
    copies_of_late_requests_go_elsewhere_within_the_budget(Wire::Http1)
}

#[test]
fn in_grpc_copies_of_late_requests_go_elsewhere_within_the_budget() -> Result<()> {
    copies_of_late_requests_go_elsewhere_within_the_budget(Wire::Grpc)
}

/// A replica learns that the other copy was faster, and serves the loser no longer.
fn losers_are_cancelled_at_the_replica(truth: &Truth) -> Result<()> {
    let lost: Vec<_> = truth.copies.iter().filter(|copy| copy.ending == Ending::Cancelled).collect();
    ensure!(!lost.is_empty(), "no copy ever lost");
    for copy in lost {
        let execution = truth
            .executions
            .iter()
            .find(|execution| (execution.request, execution.attempt) == (copy.request, copy.attempt))
            .with_context(|| format!("no replica knows of {copy:?}"))?;
        ensure!(!execution.answered, "{execution:?} was answered, though the client had given it up");
    }
    Ok(())
}

/// While one replica stands still, the others answer: what is asked of it is answered before it goes on.
fn pauses_are_hedged_away(wire: Wire) -> Result<()> {
    let mut scenario = Scenario::of(Cause::Independent);
    scenario.system.duration = Duration::from_millis(2_500);
    scenario.system.wire = wire;
    let mut policy = Policy::after(DELAY);
    policy.budget.per_primary = Share::percent(30);
    scenario.hedging = Some(policy);
    let truth = run(&Programs::beside_tests()?.observer, &scenario)?;

    let summary = truth.summary();
    ensure!(summary.failed == 0, "{} requests failed: {:?}", summary.failed, truth.counts);
    let pauses = truth.faults.iter().filter_map(|fault| fault.end.since(fault.begin));
    let shortest = pauses.filter(|pause| pause.0 > 100_000_000).min().context("no replica was stopped")?;
    let p99 = summary.all.quantile(0.99).context("no requests")?;
    ensure!(p99 < shortest, "p99 is {p99:?}, the shortest pause was {shortest:?}");
    Ok(())
}

#[test]
fn in_http1_pauses_are_hedged_away() -> Result<()> {
    pauses_are_hedged_away(Wire::Http1)
}

/// All calls to a replica that stands still are cancelled on one connection, which outlasts that.
#[test]
fn in_grpc_pauses_are_hedged_away() -> Result<()> {
    pauses_are_hedged_away(Wire::Grpc)
}
