//! What a probe beside the client would have recorded.

use std::path::Path;

use anyhow::Result;
use observer::{
    exchange::{Exchange, Names},
    ledger::{Metric, Row},
    provenance::{Provenance, SourceKind},
    recording::Recorder,
    simulation::{CopyIds, Extent, Outcome, Policy, SeenNames, simulate_seen},
};
use observer_common::Nanoseconds;

use crate::case::{Case, Traffic};

/// How long is recorded.
pub(crate) const EXTENT: Extent = Extent { duration: Nanoseconds(60_000_000_000), requests: 400_000 };

/// One minute of traffic, and what became of it.
#[derive(Debug)]
pub struct Recording {
    /// What the exchanges' names mean.
    pub names: Names,
    /// What was seen.
    pub exchanges: Vec<Exchange>,
    /// What became of all requests.
    pub outcome: Outcome,
}

impl Recording {
    /// Records the traffic of a case as it is.
    pub fn of(case: &Case) -> Self {
        let Traffic { system, conditions, policy, logs_copies, shows_classes } = &case.traffic;
        let mut names = Names::default();
        let (service, unavailable) = (names.id("simulated"), names.id("503"));
        let instances: Vec<_> =
            (0..system.instances.get()).map(|instance| names.id(&address(instance, case.per_host))).collect();
        let classes: Vec<_> = conditions.classes.iter().map(|class| names.id(class.name)).collect();
        let ids = if *logs_copies { CopyIds::Logged } else { CopyIds::Anonymous };
        let mut exchanges = Vec::new();
        let outcome = simulate_seen(system, conditions, policy, EXTENT, case.run, &mut |seen| {
            let class = seen.class.filter(|_| *shows_classes).map(|class| classes[class]);
            let instance = instances[seen.instance as usize];
            exchanges.push(seen.exchange(&SeenNames { service, instance, class, unavailable }, ids));
        });
        Self { names, exchanges, outcome }
    }

    /// Writes it as an exchange log, complete or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut log = Recorder::create(path)?;
        for exchange in &self.exchanges {
            log.write(exchange, &self.names)?;
        }
        Ok(log.finish(&Provenance::of(SourceKind::Table))?)
    }

    /// The same as rows, in the order in which a ledger gives them.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<_> =
            self.exchanges.iter().map(|exchange| Row::of(exchange, Metric::FirstByte)).collect();
        rows.sort_unstable();
        rows
    }
}

/// Where an instance is, so many of which share a host.
fn address(instance: u32, per_host: u32) -> String {
    let (host, port) = (instance / per_host + 1, 8_000 + instance % per_host);
    format!("10.0.0.{host}:{port}")
}

/// What becomes of the requests of a case with another policy.
pub(crate) fn simulate(traffic: &Traffic, policy: &Policy, run: u64) -> Outcome {
    simulate_seen(&traffic.system, &traffic.conditions, policy, EXTENT, run, &mut |_| {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_several_ports() {
        let addresses = [0, 1, 2, 5].map(|instance| address(instance, 2));
        assert_eq!(addresses, ["10.0.0.1:8000", "10.0.0.1:8001", "10.0.0.2:8000", "10.0.0.3:8001"]);
    }
}
