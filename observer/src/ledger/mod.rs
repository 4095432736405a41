//! Sums up exchanges per service and instance, in bounded memory.
//!
//! The order in which exchanges arrive does not change the result, as long as the [`Limits`] are not reached: then
//! those who came first have an entry of their own.

mod bucket;
mod counts;
mod distribution;
mod overflow;
mod pages;
mod rolling;
mod survival;
mod tally;

use observer_common::Role;

pub use self::{
    bucket::HIGHEST,
    counts::Counts,
    distribution::{Distribution, Merged},
    overflow::Overflow,
    rolling::{ROLLING, Rolling},
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
}

impl Default for Limits {
    fn default() -> Self {
        Self { services: 200, instances: 1_000 }
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
}

impl<'ledger> Service<'ledger> {
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
    instances: IndexMap<(ServiceKey, NameId), Tally>,
    services: IndexMap<ServiceKey, Option<Box<Overflow<NameId>>>>,
    other_services: Option<Box<Overflow<ServiceKey>>>,
}

impl Ledger {
    /// An empty ledger that keeps apart at most what `limits` say.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Takes in one exchange.
    pub fn record(&mut self, exchange: &Exchange) {
        let service = ServiceKey::of(exchange);
        match self.instances.get_mut(&(service, exchange.instance)) {
            Some(tally) => tally.record(exchange),
            None => self.record_new(service, exchange),
        }
    }

    fn record_new(&mut self, key: ServiceKey, exchange: &Exchange) {
        if !self.services.contains_key(&key) && self.services.len() >= self.limits.services {
            self.other_services.get_or_insert_default().record(key, exchange);
            return;
        }
        let other = self.services.entry(key).or_default();
        if self.instances.len() < self.limits.instances {
            self.instances.entry((key, exchange.instance)).or_default().record(exchange);
        } else {
            other.get_or_insert_default().record(exchange.instance, exchange);
        }
    }

    /// The services, in the order in which they were first seen.
    pub fn services(&self) -> Vec<Service<'_>> {
        let mut services: IndexMap<ServiceKey, Service<'_>> = self
            .services
            .iter()
            .map(|(key, other)| (*key, Service { key: *key, instances: Vec::new(), other: other.as_deref() }))
            .collect();
        for ((key, instance), tally) in &self.instances {
            if let Some(service) = services.get_mut(key) {
                service.instances.push((*instance, tally));
            }
        }
        services.into_values().collect()
    }

    /// The services beyond the limits, together.
    pub fn other_services(&self) -> Option<&Overflow<ServiceKey>> {
        self.other_services.as_deref()
    }

    /// Everything counted together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        let others = self.services.values().flatten().map(|other| &other.tally);
        let beyond = self.other_services.iter().map(|other| &other.tally);
        for tally in self.instances.values().chain(others).chain(beyond) {
            total += &tally.counts;
        }
        total
    }
}

#[cfg(test)]
mod tests;
