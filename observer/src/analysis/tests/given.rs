//! Requests that a test makes up.

use super::*;
use crate::{
    analysis::{quantiles::Survival, samples::Samples, slow::Slow},
    exchange::{Exchange, NameId, Names},
    ledger::{Metric, Row},
};

/// Requests that a test makes up, and what their names mean.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) names: Names,
    pub(super) exchanges: Vec<Exchange>,
}

/// Where an instance is: each has a host of its own.
pub(super) fn address(instance: usize) -> String {
    format!("10.0.{}.{}:80", instance / 200, instance % 200)
}

/// What an assessment is told besides.
pub(super) const CONTEXT: Context<'static> = Context { protocol: None, virtual_address: false, seen: 1.0 };

impl Given {
    /// Requests at random moments to instances chosen at random, each as long as `latency` says: of when it begins and
    /// where.
    pub(super) fn poisson(
        seed: u64,
        instances: usize,
        rate: f64,
        duration: f64,
        mut latency: impl FnMut(&mut Pcg64, f64, usize) -> f64,
    ) -> Self {
        let mut random = random(seed);
        let mut given = Self::default();
        let mut now = exponential(&mut random, 1.0 / rate);
        while now < duration {
            let instance = random.random_range(0..instances);
            let latency = latency(&mut random, now, instance);
            given.add(seconds(now), instance, seconds(latency));
            now += exponential(&mut random, 1.0 / rate);
        }
        given
    }

    /// One more request.
    pub(super) fn add(&mut self, start: Nanoseconds, instance: usize, latency: Nanoseconds) -> &mut Exchange {
        let service = self.names.id("search");
        let instance = self.names.id(&address(instance));
        self.exchanges.push(Exchange::new(Timestamp(start.0), service, instance, latency));
        self.exchanges.last_mut().unwrap()
    }

    /// The requests with classes by their place.
    pub(super) fn with_classes(mut self, mut class: impl FnMut(usize, &Exchange) -> &'static str) -> Self {
        for (place, exchange) in self.exchanges.iter_mut().enumerate() {
            exchange.class = Some(self.names.id(class(place, exchange)));
        }
        self
    }

    pub(super) fn name(&mut self, text: &str) -> NameId {
        self.names.id(text)
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        self.exchanges.iter().map(|exchange| Row::of(exchange, Metric::FirstByte)).collect()
    }

    pub(super) fn samples(&self) -> Samples {
        Samples::of(&self.rows(), &self.names)
    }

    pub(super) fn assess(&self) -> Assessment {
        self.answer(&Question::default())
    }

    pub(super) fn answer(&self, question: &Question) -> Assessment {
        let rows = self.rows();
        assess(&rows, &self.names, &CONTEXT, question)
    }
}

/// What is slow in samples, for a target of 0.99.
pub(super) fn slow(samples: &Samples) -> Slow {
    Slow::of(&samples.primaries, &Survival::of(&samples.primaries), 0.99)
}
