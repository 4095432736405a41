//! Observing what a test does, in both roles at once.

use anyhow::{Result, ensure};
use observer_tests::{
    nesting::{Logs, check},
    network::{Direction, Packet, Passed},
    observation::Observation,
    process::Programs,
    recording::Observed,
    say::say,
};

/// Runs `work` under observation.
pub(crate) fn observed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Vec<Observed>)> {
    let observation = Observation::start(&Programs::beside_tests()?, &["--role", "both"])?;
    let result = work()?;
    let exchanges = observation.finish()?.exchanges()?;
    Ok((result, exchanges))
}

/// There is exactly one exchange for each request, in both roles, and its times nest.
pub(crate) fn nests(name: &str, logs: &Logs, exchanges: &[Observed]) -> Result<()> {
    for role in ["client", "server"] {
        let rows = exchanges.iter().filter(|exchange| exchange.role == role).cloned().collect();
        let summary = check(logs, rows, role)?;
        ensure!(summary.exchanges == logs.client.len() as u64, "a request was not checked");
        say(&format!("{name}, {role} role: {} exchanges nest", summary.exchanges));
    }
    Ok(())
}

/// The exchanges of one connection, in order.
pub(crate) fn of(exchanges: &[Observed], connection: u64) -> Vec<Observed> {
    let mut rows: Vec<Observed> =
        exchanges.iter().filter(|exchange| exchange.connection == connection).cloned().collect();
    rows.sort_by_key(|row| row.start);
    rows
}

/// How the exchanges of one connection ended.
pub(crate) fn outcomes(exchanges: &[Observed], connection: u64) -> Vec<String> {
    of(exchanges, connection).into_iter().map(|row| row.outcome).collect()
}

/// How many segments of the logged connections were seen again, in one role.
pub(crate) fn retransmits(exchanges: &[Observed], role: &str, logs: &Logs) -> u32 {
    exchanges
        .iter()
        .filter(|row| row.role == role)
        .filter(|row| {
            logs.client.iter().any(|entry| entry.connection == row.connection)
                || logs.server.iter().any(|entry| entry.connection == row.connection)
        })
        .map(|row| row.retransmits)
        .sum()
}

/// Probes of a side, for a dead peer or an open window: Linux sends them without payload, under a sequence number
/// one behind what it has sent.
pub(crate) fn probes(journal: &[Passed], direction: Direction) -> usize {
    let mut highest: Option<u32> = None;
    let mut count = 0;
    let packets = journal.iter().map(|passed| passed.packet).filter(|packet| packet.direction == direction);
    for Packet { sequence, length, .. } in packets {
        let behind = highest.is_some_and(|highest| highest.wrapping_sub(sequence).cast_signed() > 0);
        if length == 0 && behind {
            count += 1;
        }
        if !behind {
            highest = Some(sequence.wrapping_add(length));
        }
    }
    count
}
