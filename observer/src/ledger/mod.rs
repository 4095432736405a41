//! Sums up exchanges per service and instance, in bounded memory.
//!
//! The order in which exchanges arrive does not change the result, as long as the [`Limits`] are not reached: then
//! those who came first have an entry of their own. Of its latest exchanges each service keeps rows, whose number is
//! limited too: those with the oldest start go, in whatever order they came.

mod bucket;
mod counts;
mod distribution;
mod overflow;
mod pages;
mod recent;
mod rolling;
mod row;
mod survival;
mod tally;

use observer_common::Role;

use self::recent::Recent;
pub use self::{
    bucket::HIGHEST,
    counts::Counts,
    distribution::{Distribution, Merged},
    overflow::Overflow,
    rolling::{ROLLING, Rolling},
    row::{Metric, Row},
    survival::{Quantile, quantiles},
    tally::Tally,
};
use crate::{
    exchange::{Exchange, NameId},
    maps::IndexMap,
};

/// What tells services apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServiceKey {
    /// The service's name.
    pub name: NameId,
    /// Who asks.
    pub client: Option<NameId>,
    /// What is spoken.
    pub protocol: Option<NameId>,
    /// Which side was observed.
    pub role: Role,
}

impl ServiceKey {
    /// The service that an exchange belongs to.
    pub const fn of(exchange: &Exchange) -> Self {
        Self {
            name: exchange.service,
            client: exchange.client,
            protocol: exchange.protocol,
            role: exchange.role,
        }
    }
}

/// How much the ledger keeps apart.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many services.
    pub services: usize,
    /// How many instances, over all services.
    pub instances: usize,
    /// How many rows of a service.
    pub rows_per_service: usize,
    /// How many rows, over all services.
    pub rows: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { services: 200, instances: 1_000, rows_per_service: 262_144, rows: 524_288 }
    }
}

/// One service of the ledger.
#[derive(Debug)]
pub struct Service<'ledger> {
    /// What tells it apart.
    pub key: ServiceKey,
    /// Its instances.
    pub instances: Vec<(NameId, &'ledger Tally)>,
    /// Its instances beyond the ledger's limits.
    pub other: Option<&'ledger Overflow<NameId>>,
    recent: &'ledger Recent,
    rows_at_most: usize,
}

impl<'ledger> Service<'ledger> {
    /// Its latest exchanges, in no order: a copy of as many as the ledger's limits let it keep.
    pub fn rows(&self) -> Vec<Row> {
        self.recent.latest(self.rows_at_most)
    }

    /// The tallies of all instances and of the bucket beyond the limits.
    pub fn tallies(&self) -> impl Iterator<Item = &'ledger Tally> {
        let named = self.instances.iter().map(|(_, tally)| *tally);
        named.chain(self.other.map(|other| &other.tally))
    }
}

/// What is known about every service and instance.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    limits: Limits,
    metric: Metric,
    instances: IndexMap<(ServiceKey, NameId), Known>,
    services: IndexMap<ServiceKey, Kept>,
    other_services: Option<Box<Overflow<ServiceKey>>>,
    /// How many rows all services hold together.
    rows: usize,
}

/// What is kept of an instance.
#[derive(Clone, Debug)]
struct Known {
    tally: Tally,
    /// The place of its service, which saves a look-up for every exchange.
    service: usize,
}

/// What is kept of a service besides its instances.
#[derive(Clone, Debug, Default)]
struct Kept {
    other: Option<Box<Overflow<NameId>>>,
    recent: Recent,
}

impl Ledger {
    /// An empty ledger that keeps apart at most what `limits` say.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The same with rows that measure `metric`.
    #[must_use]
    pub fn measuring(self, metric: Metric) -> Self {
        Self { metric, ..self }
    }

    /// What its rows measure.
    pub const fn metric(&self) -> Metric {
        self.metric
    }

    /// Takes in one exchange.
    pub fn record(&mut self, exchange: &Exchange) {
        let service = ServiceKey::of(exchange);
        let place = match self.instances.get_mut(&(service, exchange.instance)) {
            Some(known) => {
                known.tally.record(exchange);
                Some(known.service)
            }
            None => self.record_new(service, exchange),
        };
        if let Some(place) = place {
            self.keep(place, Row::of(exchange, self.metric));
        }
    }

    /// Takes in an exchange of an instance that has no entry, and says at which place its service is, if it has one.
    fn record_new(&mut self, key: ServiceKey, exchange: &Exchange) -> Option<usize> {
        if !self.services.contains_key(&key) && self.services.len() >= self.limits.services {
            self.other_services.get_or_insert_default().record(key, exchange);
            return None;
        }
        let entry = self.services.entry(key);
        let place = entry.index();
        let kept = entry.or_default();
        if self.instances.len() < self.limits.instances {
            let mut tally = Tally::default();
            tally.record(exchange);
            self.instances.insert((key, exchange.instance), Known { tally, service: place });
        } else {
            kept.other.get_or_insert_default().record(exchange.instance, exchange);
        }
        Some(place)
    }

    fn keep(&mut self, place: usize, row: Row) {
        let before = self.services[place].recent.len();
        self.services[place].recent.add(row, self.limits.rows_per_service);
        self.rows = self.rows - before + self.services[place].recent.len();
        if self.rows > self.limits.rows
            && let Some(longest) = self.services.values_mut().max_by_key(|kept| kept.recent.len())
        {
            let before = longest.recent.len();
            longest.recent.halve();
            self.rows = self.rows - before + longest.recent.len();
        }
    }

    /// The services, in the order in which they were first seen.
    pub fn services(&self) -> Vec<Service<'_>> {
        let mut services: Vec<_> = self
            .services
            .iter()
            .map(|(key, kept)| Service {
                key: *key,
                instances: Vec::new(),
                other: kept.other.as_deref(),
                recent: &kept.recent,
                rows_at_most: self.limits.rows_per_service,
            })
            .collect();
        for ((_, instance), known) in &self.instances {
            services[known.service].instances.push((*instance, &known.tally));
        }
        services
    }

    /// The services beyond the limits, together.
    pub fn other_services(&self) -> Option<&Overflow<ServiceKey>> {
        self.other_services.as_deref()
    }

    /// Everything counted together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        let named = self.instances.values().map(|known| &known.tally);
        let others =
            self.services.values().filter_map(|kept| kept.other.as_deref()).map(|other| &other.tally);
        let beyond = self.other_services.iter().map(|other| &other.tally);
        for tally in named.chain(others).chain(beyond) {
            total += &tally.counts;
        }
        total
    }
}

#[cfg(test)]
mod tests;
