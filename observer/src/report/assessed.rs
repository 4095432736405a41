//! The assessment of a service: the one place where the report asks for it.

use observer_common::Role;

use crate::{
    analysis::{self, Context, Question, hysteresis::Settled, model::Assessment},
    exchange::{NameId, Names},
    ledger::{Row, Service, ServiceKey},
    maps::HashMap,
};

/// What successive reports of one observation said about each service, so that the next one does not flicker.
#[derive(Debug, Default)]
pub struct Settlements {
    services: HashMap<ServiceKey, Settled>,
}

/// Who assesses services.
pub(super) struct Assessor<'a> {
    pub(super) names: &'a Names,
    pub(super) question: &'a Question,
    pub(super) settled: &'a mut Settlements,
    /// The share of exchanges that was seen.
    pub(super) seen: f64,
}

/// A service's assessment, and what of it concerns its instances.
pub(super) struct Assessed {
    pub(super) assessment: Assessment,
    instances: HashMap<NameId, Slow>,
}

/// How many requests of an instance were slow.
#[derive(Default)]
struct Slow {
    slow: u64,
    all: u64,
}

impl Assessor<'_> {
    pub(super) fn assess(&mut self, service: &Service<'_>) -> Assessed {
        let rows = service.rows();
        let now = match service.key.role {
            Role::Server => analysis::served(rows.len() as u64, self.question),
            Role::Client | Role::Unknown | Role::Ignored => self.of_client(service, &rows),
        };
        let assessment = self.settled.services.entry(service.key).or_default().settle(now);
        let instances = assessment.verdict.slow_above_s.map(|above| slow(&rows, above)).unwrap_or_default();
        Assessed { assessment, instances }
    }

    fn of_client(&self, service: &Service<'_>, rows: &[Row]) -> Assessment {
        let context = Context {
            protocol: service.key.protocol.map(|protocol| self.names.text(protocol)),
            virtual_address: service
                .instances
                .iter()
                .any(|(instance, _)| self.names.text(*instance).ends_with(VIRTUAL)),
            seen: self.seen,
        };
        analysis::assess(rows, self.names, &context, self.question)
    }
}

/// What marks an instance that several may answer behind.
const VIRTUAL: &str = " (virtual)";

impl Assessed {
    /// The share of an instance's requests that were slow; nothing where none tells.
    pub(super) fn slow_share(&self, instance: NameId) -> Option<f64> {
        let counted = self.instances.get(&instance).filter(|counted| counted.all > 0)?;
        Some(counted.slow as f64 / counted.all as f64)
    }
}

/// Counts slow requests by instance, and none of their further copies. One without an answer that waited less tells nothing.
fn slow(rows: &[Row], above_s: f64) -> HashMap<NameId, Slow> {
    let mut instances: HashMap<NameId, Slow> = HashMap::default();
    for row in rows.iter().filter(|row| row.attempt().is_none_or(|attempt| attempt == 0)) {
        let slow = row.experienced().as_seconds() > above_s;
        if slow || !row.is_censored() {
            let counted = instances.entry(row.instance()).or_default();
            counted.slow += u64::from(slow);
            counted.all += 1;
        }
    }
    instances
}

#[cfg(test)]
mod tests {
    use observer_common::{Nanoseconds, Outcome, Timestamp};

    use super::*;
    use crate::{exchange::Exchange, ledger::Metric};

    #[test]
    fn what_gave_up_early_is_neither_slow_nor_fast() {
        let mut names = Names::default();
        let (service, instance) = (names.id("search"), names.id("192.0.2.1:80"));
        let row = |outcome, milliseconds: u64, lag: u64| {
            let latency = Nanoseconds(milliseconds * 1_000_000);
            let read_lag = Some(Nanoseconds(lag * 1_000_000));
            let exchange = Exchange::new(Timestamp(0), service, instance, latency);
            Row::of(&Exchange { read_lag, outcome, ..exchange }, Metric::FirstByte)
        };
        let rows = [
            row(Outcome::Ok, 5, 0),
            row(Outcome::Ok, 15, 0),
            row(Outcome::Ok, 5, 10),
            row(Outcome::Cancelled, 5, 0),
            row(Outcome::Pending, 50, 0),
        ];
        let counted = &slow(&rows, 0.010)[&instance];
        assert_eq!((counted.slow, counted.all), (3, 4));
    }
}
