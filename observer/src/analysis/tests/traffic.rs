//! Requests that a simulation answers, as a probe beside their client sees them.

use super::{given::Given, *};
use crate::simulation::{
    Arrivals, Balancing, Conditions, CopyIds, Discipline, Effect, Extent, Fault, Part, Policy, Rate, Scope,
    SeenNames, ServiceTime, Shape, System, When, simulate_seen,
};

/// Traffic of a minute.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    pub(super) system: System,
    pub(super) conditions: Conditions,
    pub(super) policy: Policy,
    pub(super) ids: CopyIds,
    pub(super) duration: f64,
}

pub(super) fn rate(per_second: f64) -> Rate {
    Rate::per_second(per_second).unwrap()
}

/// About as long every time: log-normal with a sigma of 0.2.
pub(super) fn even(median: Nanoseconds) -> ServiceTime {
    ServiceTime::only(Shape::LogNormal { median, sigma: 0.2 }).unwrap()
}

/// The same, of which this share takes so many times as long.
pub(super) fn some_slow(median: Nanoseconds, part: f64, times: u64) -> ServiceTime {
    let of = |part, median| Part {
        share: share(part),
        shift: Nanoseconds(0),
        shape: Shape::LogNormal { median, sigma: 0.2 },
    };
    ServiceTime::mixture(vec![of(1.0 - part, median), of(part, Nanoseconds(median.0 * times))]).unwrap()
}

pub(super) fn at_random(gap: f64, length: f64) -> When {
    When::Random { gap: seconds(gap), length: seconds(length) }
}

impl Traffic {
    /// To so many instances of eight slots each, at this utilisation and rate.
    pub(super) fn to(instances: u32, service: ServiceTime) -> Self {
        let system = System {
            arrivals: Arrivals::Poisson(rate(500.0)),
            width: count(1),
            balancing: Balancing::RoundRobin,
            instances: count(instances),
            slots: count(8),
            discipline: Discipline::FirstInFirstOut,
            service,
        };
        Self {
            system,
            conditions: Conditions::default(),
            policy: Policy::NONE,
            ids: CopyIds::Anonymous,
            duration: 60.0,
        }
    }

    pub(super) fn fault(mut self, scope: Scope, when: When, effect: Effect) -> Self {
        self.conditions.faults.push(Fault { scope, when, effect });
        self
    }

    /// Two kinds of requests that cost the same, so that a costly kind can be ruled out.
    pub(super) fn named(self) -> Self {
        self.classes(&[("GET /item", 0.7, 1.0), ("GET /stock", 0.299_9, 1.0)])
    }

    /// Kinds of requests: their names, shares, and how many times as much they cost.
    pub(super) fn classes(mut self, classes: &[(&'static str, f64, f64)]) -> Self {
        let class = |(name, part, factor): &(&'static str, f64, f64)| crate::simulation::Class {
            name,
            share: share(*part),
            factor: *factor,
        };
        self.conditions.classes = classes.iter().map(class).collect();
        self
    }

    /// What a probe records, and whether it sees what kinds of requests there are.
    pub(super) fn given(&self, shows_classes: bool) -> Given {
        assert_eq!(self.conditions.check(&self.system), Ok(()));
        let mut given = Given::default();
        let (service, unavailable) = (given.name("simulated"), given.name("503"));
        let instances: Vec<_> = (0..self.system.instances.get())
            .map(|instance| given.name(&format!("10.0.0.{}:80", instance + 1)))
            .collect();
        let classes: Vec<_> = self.conditions.classes.iter().map(|class| given.name(class.name)).collect();
        let extent = Extent { duration: seconds(self.duration), requests: 200_000 };
        let mut exchanges = Vec::new();
        simulate_seen(&self.system, &self.conditions, &self.policy, extent, 7, &mut |seen| {
            let class = seen.class.filter(|_| shows_classes).map(|class| classes[class]);
            let names =
                SeenNames { service, instance: instances[seen.instance as usize], class, unavailable };
            exchanges.push(seen.exchange(&names, self.ids));
        });
        given.exchanges = exchanges;
        given
    }

    /// What is said about it.
    pub(super) fn assess(&self) -> Assessment {
        self.given(true).assess()
    }
}
