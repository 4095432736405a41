//! For each cause: what was done is what was seen, there and then, and nowhere else.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use observer::demo::{Cause, Class, CopyRecord, Fault, FaultSpan, Mechanism, Wire};

use crate::run::{Run, SLACK, SLOW, end, overlaps, quantile, sent_within, took};

/// Nobody who was asked in the middle of these had an answer before their end.
fn nobody_is_answered_within(
    run: &Run,
    faults: &[&FaultSpan],
    struck: impl Fn(&CopyRecord, &FaultSpan) -> bool,
) -> Result<()> {
    let mut asked = 0;
    for fault in faults {
        for copy in &run.truth.copies {
            if struck(copy, fault) && sent_within(copy, fault) {
                asked += 1;
                ensure!(end(copy).0 + SLACK.0 >= fault.end.0, "{copy:?} was answered in spite of {fault:?}");
            }
        }
    }
    ensure!(asked >= 5, "only {asked} were asked while {:?} was on", faults[0].fault);
    Ok(())
}

/// Single replicas were stopped: slow are those asked of that one at that time, and no others.
fn independent(wire: Wire) -> Result<()> {
    let run = Run::of(Cause::Independent, wire)?;
    let stopped = run.faults(Fault::Stopped)?;
    let struck = |copy: &CopyRecord, fault: &FaultSpan| fault.instance == Some(copy.instance);
    run.slow_ones_are(|copy| stopped.iter().any(|fault| struck(copy, fault) && overlaps(copy, fault)))?;
    nobody_is_answered_within(&run, &stopped, struck)?;
    let elsewhere = run.truth.copies.iter().filter(|copy| {
        stopped.iter().any(|fault| sent_within(copy, fault))
            && !stopped.iter().any(|fault| struck(copy, fault) && overlaps(copy, fault))
    });
    ensure!(quantile(elsewhere.map(took), 95)? < SLOW, "the others were slow as well");
    Ok(())
}

/// One replica wanted for processor time: slow are those asked of it.
fn instance(wire: Wire) -> Result<()> {
    let run = Run::of(Cause::Instance, wire)?;
    let fault = match run.truth.mechanism {
        Mechanism::ProcessorQuotaV1 | Mechanism::ProcessorQuotaV2 => Fault::Quota,
        _ => Fault::LongerService,
    };
    let faults = run.faults(fault)?;
    let first = run.instances()[0];
    ensure!(faults.iter().all(|fault| fault.instance == Some(first)), "it struck another one: {faults:?}");
    // A queue that has grown meanwhile is served after the fault's end.
    run.slow_ones_are(|copy| copy.instance == first)?;
    let of = |wanted: bool| {
        run.truth.copies.iter().filter(move |copy| (copy.instance == first) == wanted).map(took)
    };
    let (there, elsewhere) = (quantile(of(true), 75)?, quantile(of(false), 75)?);
    ensure!(there.0 > 5 * elsewhere.0, "{there:?} there, {elsewhere:?} elsewhere");
    Ok(())
}

/// The store stood still: slow are those that were under way then, at every replica.
fn shared(wire: Wire) -> Result<()> {
    let run = Run::of(Cause::Shared, wire)?;
    let locked = run.faults(Fault::StoreLocked)?;
    run.slow_ones_are(|copy| locked.iter().any(|fault| overlaps(copy, fault)))?;
    nobody_is_answered_within(&run, &locked, |_, _| true)?;
    for fault in locked {
        let slow = run.truth.copies.iter().filter(|copy| took(copy) >= SLOW && overlaps(copy, fault));
        let instances: HashSet<_> = slow.map(|copy| copy.instance).collect();
        let length = fault.end.since(fault.begin).unwrap_or_default();
        ensure!(length < SLOW || instances.len() == 3, "{fault:?} struck {instances:?} alone");
    }
    Ok(())
}

/// More arrived than there are slots for: the later in the burst, the longer the queue, at every replica.
fn saturated(wire: Wire) -> Result<()> {
    let run = Run::of(Cause::Saturated, wire)?;
    let bursts = run.faults(Fault::Burst)?;
    let first = bursts[0];
    let middle = first.begin.0.midpoint(first.end.0);
    for instance in run.instances() {
        let here = || run.truth.copies.iter().filter(|copy| copy.instance == instance);
        let before = here().filter(|copy| end(copy) < first.begin).map(took);
        let late = here().filter(|copy| (middle..first.end.0).contains(&copy.start.0)).map(took);
        let (before, late) = (quantile(before, 75)?, quantile(late, 50)?);
        ensure!(late.0 > 2 * before.0, "{instance}: {before:?} before the burst, {late:?} in it");
    }
    // Replicas say so, too: it is they who let requests wait.
    let waited = run
        .truth
        .executions
        .iter()
        .filter(|execution| execution.ended.since(execution.arrived).is_some_and(|time| time >= SLOW));
    ensure!(10 * waited.count() > run.truth.executions.len(), "hardly any request waited at its replica");
    Ok(())
}

/// The client did not read: slow are those whose answers came then, though replicas were in time.
fn caller(wire: Wire) -> Result<()> {
    let run = Run::of(Cause::Caller, wire)?;
    let unread = run.faults(Fault::NotReading)?;
    run.slow_ones_are(|copy| unread.iter().any(|fault| overlaps(copy, fault)))?;
    nobody_is_answered_within(&run, &unread, |_, _| true)?;
    run.replicas_answered_in_time()?;
    let slow = SLOW.as_seconds();
    ensure!(run.quantile("latency_s", "p99")? < slow, "the probes take the client's delay for the replicas'");
    if wire == Wire::Http1 {
        ensure!(run.quantile("read_lag_s", "p99")? > slow, "the probes do not see the client's delay");
    }
    Ok(())
}

/// Segments were lost: slow are those on that connection at that time, though replicas were in time.
fn network(wire: Wire) -> Result<()> {
    let run = Run::of(Cause::Network, wire)?;
    run.faults(Fault::BadPath)?;
    let lost = run.faults(Fault::SegmentLost)?;
    let struck = |copy: &CopyRecord, fault: &FaultSpan| fault.client == Some(copy.client);
    run.slow_ones_are(|copy| lost.iter().any(|fault| struck(copy, fault) && overlaps(copy, fault)))?;
    for fault in &lost {
        let mut met = run.truth.copies.iter().filter(|copy| struck(copy, fault) && overlaps(copy, fault));
        ensure!(met.any(|copy| took(copy) >= SLOW), "nobody waited for {fault:?}");
    }
    run.replicas_answered_in_time()
}

/// Some requests cost more: slow are exactly those, at every replica.
fn request(wire: Wire) -> Result<()> {
    let run = Run::of(Cause::Request, wire)?;
    let of = |class| run.truth.copies.iter().filter(move |copy| copy.class == class);
    let cheapest = quantile(of(Class::Expensive).map(took), 0)?;
    let usual = quantile(of(Class::Ordinary).map(took), 95)?;
    ensure!(cheapest > usual, "an expensive one took {cheapest:?}, ordinary ones {usual:?}");
    let instances: HashSet<_> = of(Class::Expensive).map(|copy| copy.instance).collect();
    ensure!(instances.len() == 3, "expensive ones went to {instances:?} alone");
    run.slow_ones_are(|copy| copy.class == Class::Expensive)
}

/// Nothing was done, and nothing was slow.
fn no_tail(wire: Wire) -> Result<()> {
    let run = Run::of(Cause::NoTail, wire)?;
    ensure!(run.truth.faults.is_empty(), "a fault was on: {:?}", run.truth.faults);
    for what in ["latency_s", "last_byte_s"] {
        let (half, most) = (run.quantile(what, "p50")?, run.quantile(what, "p99")?);
        ensure!(most < 3.0 * half, "{what}: p99 {most}, p50 {half}");
    }
    Ok(())
}

macro_rules! in_both_protocols {
    ($($cause:ident),*) => {
        mod http1 {
            $(#[test]
            fn $cause() -> anyhow::Result<()> {
                super::$cause(observer::demo::Wire::Http1)
            })*
        }
        mod grpc {
            $(#[test]
            fn $cause() -> anyhow::Result<()> {
                super::$cause(observer::demo::Wire::Grpc)
            })*
        }
    };
}

in_both_protocols!(independent, instance, shared, saturated, caller, network, request, no_tail);
