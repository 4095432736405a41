//! A reader that is stopped under load loses exchanges, counts every one, and recovers.

use std::{collections::HashSet, thread, time::Duration};

use anyhow::{Result, bail, ensure};
use observer_tests::{
    nesting::{Family, Group, Logs, Plan, traffic},
    observation::Observation,
    process::Programs,
    say::say,
    transport::Io,
};
use rustix::process::Signal;

/// Other traffic on this host is lost and counted, too. A run during which there was some proves nothing.
const ATTEMPTS: usize = 3;

#[test]
fn a_stopped_reader_counts_what_it_loses() -> Result<()> {
    for _ in 0..ATTEMPTS {
        if attempt()? {
            return Ok(());
        }
    }
    bail!("other programs' traffic makes the count uncertain: run this on a quiet host")
}

/// One run; whether there was no traffic but its own.
fn attempt() -> Result<bool> {
    let programs = Programs::beside_tests()?;
    let observation = Observation::start(&programs, &["--role", "client"])?;
    let before = traffic(&programs, &load(500))?;
    observation.signal(Signal::STOP)?;
    // More than the ring holds.
    let stopped = traffic(&programs, &load(10_000))?;
    let during = thread::scope(|scope| {
        let traffic = scope.spawn(|| traffic(&programs, &load(2_500)));
        thread::sleep(Duration::from_millis(200));
        observation.signal(Signal::CONT)?;
        traffic.join().unwrap_or_else(|_| bail!("the traffic panicked"))
    })?;
    let after = traffic(&programs, &load(500))?;
    let recording = observation.finish()?;

    let rows = recording.exchanges()?;
    let recorded = |logs: &Logs| {
        let connections: HashSet<u64> = logs.client.iter().map(|entry| entry.connection).collect();
        rows.iter().filter(|row| connections.contains(&row.connection)).count()
    };
    for (when, logs) in [("before the stop", &before), ("after the recovery", &after)] {
        ensure!(recorded(logs) == logs.client.len(), "exchanges were lost {when}");
    }
    let phases = [&before, &stopped, &during, &after];
    let sent: usize = phases.iter().map(|logs| logs.client.len()).sum();
    let kept: usize = phases.iter().map(|logs| recorded(logs)).sum();
    let lost = usize::try_from(recording.lost()?)?;
    let strangers = rows.len() - kept;
    say(&format!("loss: {sent} requests = {kept} recorded + {lost} lost ({strangers} of other programs)"));
    ensure!(lost > 0, "the ring held everything: nothing was put to the test");
    ensure!(kept + lost >= sent, "{} exchanges vanished without being counted", sent - kept - lost);
    ensure!(strangers > 0 || kept + lost == sent, "{} exchanges were counted twice", kept + lost - sent);
    Ok(strangers == 0)
}

/// Sixteen connections with this many quick requests each.
fn load(requests: u32) -> Plan {
    let group = |family| Group {
        client: Io::Blocking,
        server: Io::Blocking,
        family,
        connections: 8,
        requests,
        large: 0,
        quick: true,
    };
    Plan { groups: vec![group(Family::V4), group(Family::V6)] }
}
