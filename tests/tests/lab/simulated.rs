//! The simulator against the lab: the same system with the same policy, once in numbers and once on real sockets.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use observer::{
    demo::{self, Cause, Scenario, Summary, hedging},
    quantity::{Rate, Share},
    simulation::{
        Arrivals, Balancing, Budget, Cancellation, Discipline, Extent, Hedge, Outcome, Part, Policy,
        ServiceTime, Shape, System, Tactic, simulate,
    },
};
use observer_common::Nanoseconds;
use observer_tests::process::Programs;

const REPLICAS: u32 = 3;
const SLOTS: u32 = 4;
const USUAL: Duration = Duration::from_millis(20);
const RARE: Duration = Duration::from_millis(300);
const RARE_PERCENT: u8 = 3;
/// Three in five slots are busy: some requests wait for one.
const PER_SECOND: f64 = 250.0;
const DURATION: Duration = Duration::from_secs(6);
const DELAY: Duration = Duration::from_millis(60);
/// The lab is one more draw: among so many it lies within the extremes.
const SEEDS: u64 = 300;
/// Two points, as a share.
const TWO_POINTS: f64 = 0.02;
/// Half a point: what sockets and timers change about which request is late.
const HALF_A_POINT: f64 = 0.005;

/// What the lab's hedging client does by default, said to both.
fn budgeted() -> hedging::Policy {
    hedging::Policy::after(DELAY)
}

fn lab(service: demo::ServiceTime, per_second: f64, hedging: Option<hedging::Policy>) -> Result<Summary> {
    let mut scenario = Scenario::of(Cause::NoTail);
    scenario.system.replicas = NonZeroUsize::new(REPLICAS as usize).context("some replicas")?;
    scenario.system.slots = NonZeroUsize::new(SLOTS as usize).context("some slots")?;
    scenario.system.service = service;
    scenario.system.rate = Rate::per_second(per_second).context("a rate")?;
    scenario.system.duration = DURATION;
    scenario.system.balancing = demo::Balancing::TwoChoices;
    scenario.hedging = hedging;
    let summary = demo::run(&Programs::beside_tests()?.observer, &scenario)?.summary();
    ensure!(summary.failed == 0, "{} requests failed", summary.failed);
    Ok(summary)
}

fn simulated(hedging: Option<hedging::Policy>) -> Result<Vec<Outcome>> {
    let part = |percent, time| {
        let shape = Shape::Constant(nanoseconds(time));
        Part { share: Share::percent(percent), shift: Nanoseconds(0), shape }
    };
    let whole = |number: u32| NonZeroU32::new(number).context("at least one");
    let system = System {
        arrivals: Arrivals::Poisson(Rate::per_second(PER_SECOND).context("a rate")?),
        width: NonZeroU32::MIN,
        balancing: Balancing::TwoChoices,
        instances: whole(REPLICAS)?,
        slots: whole(SLOTS)?,
        discipline: Discipline::FirstInFirstOut,
        service: ServiceTime::mixture(vec![part(100 - RARE_PERCENT, USUAL), part(RARE_PERCENT, RARE)])?,
    };
    let mut policy = Policy::NONE;
    if let Some(hedging) = hedging {
        let budget = Some(Budget { share: hedging.budget.per_primary, burst: hedging.budget.burst });
        policy = Policy::of(Tactic::Hedge(Hedge { budget, ..Hedge::after(nanoseconds(hedging.delay)) }));
        // The lab's replicas see within a moment that the client has gone.
        policy.cancellation = Cancellation::After(nanoseconds(Duration::from_millis(1)));
    }
    let extent = Extent { duration: nanoseconds(DURATION), requests: u64::MAX };
    Ok((1..=SEEDS).map(|seed| simulate(&system, &policy, extent, seed)).collect())
}

fn nanoseconds(duration: Duration) -> Nanoseconds {
    Nanoseconds(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// What sockets, timers and a busy machine add to a request that waits for no slot: the simulator knows nothing of it.
fn added_by_the_machine() -> Result<Nanoseconds> {
    let quiet = lab(demo::ServiceTime::constant(USUAL), PER_SECOND / 5.0, None)?;
    let p99 = quiet.all.quantile(0.99).context("no request")?;
    Ok(Nanoseconds(p99.0.saturating_sub(nanoseconds(USUAL).0)))
}

/// Hedged share and executions within two points, quantiles between what the seeds gave, and no longer than that and
/// what is `added` on the way.
fn agree(lab: &Summary, simulated: &[Outcome], added: Nanoseconds) -> Result<()> {
    for (what, lab, of) in [
        ("hedged share", lab.hedged_share, Outcome::hedged_share as fn(&Outcome) -> f64),
        ("executions per request", lab.executions_per_request, Outcome::executions_per_request),
    ] {
        let mut simulated: Vec<_> = simulated.iter().map(of).collect();
        simulated.sort_by(f64::total_cmp);
        let (least, median, most) =
            (simulated[0], simulated[simulated.len() / 2], simulated[simulated.len() - 1]);
        ensure!(
            (lab - median).abs() <= TWO_POINTS && (least - HALF_A_POINT..=most + HALF_A_POINT).contains(&lab),
            "{what}: {lab} in the lab, {least} to {most} simulated, half of them up to {median}"
        );
    }
    for quantile in [0.5, 0.95, 0.99] {
        let all = simulated.iter().map(|outcome| outcome.latency().quantile(quantile));
        let (least, most) = (all.clone().min(), all.max());
        let (least, most) = least.zip(most).context("no seed")?;
        let lab = lab.all.quantile(quantile).context("no request")?;
        ensure!(
            least <= lab && lab.0 <= most.0 + added.0,
            "the {quantile} quantile is {lab:?} in the lab, {least:?} to {most:?} simulated, {added:?} added"
        );
    }
    Ok(())
}

#[test]
fn the_simulator_says_what_the_lab_does() -> Result<()> {
    let service = || demo::ServiceTime::two_kinds(USUAL, RARE, Share::percent(RARE_PERCENT));
    let added = added_by_the_machine()?;
    agree(&lab(service(), PER_SECOND, None)?, &simulated(None)?, added)?;
    // A hedged request goes the way twice: a timer runs late for the delay, another one for the copy's service.
    let twice = Nanoseconds(2 * added.0);
    agree(&lab(service(), PER_SECOND, Some(budgeted()))?, &simulated(Some(budgeted()))?, twice)
}
