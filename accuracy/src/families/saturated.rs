//! Instances are full, because of what is seen or of what other clients ask for.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Arrivals, Balancing, Rate},
};

use super::parts::{at_random, load, mostly_named, once, regularly};
use crate::{
    case::{Check, Family, Half, Hedging, Traffic},
    draw::Draw,
    pace::Pace,
    plan::{Arriving, LEVEL, Plan, bursts},
    units,
};

const PATTERN: Family = Family {
    causes: &[Cause::Saturated],
    actions: &[Action::DoNotHedge],
    hedging: Hedging::Forbidden,
    ..Family::PATTERN
};

const FULL: Plan = Plan {
    instances: (2, 20),
    rate: (100.0, 1_500.0),
    utilisation: (0.94, 1.06),
    service: (0.001, 0.03),
    balancing: LEVEL,
    arriving: &[Arriving::Alone],
};

/// How many requests a second are this much of the capacity.
fn part_of_capacity(traffic: &Traffic, part: f64) -> anyhow::Result<Rate> {
    let capacity = traffic.system.capacity().map_or(1.0, Rate::as_per_second);
    units::rate(capacity * part)
}

/// Service times without a tail, or exponential ones.
fn pace(draw: &mut Draw) -> Pace {
    if draw.chance(0.3) { Pace::Exponential } else { Pace::even(draw) }
}

pub(super) const FAMILIES: &[Family] = &[
    // All the time: no quantile is far from the median.
    Family {
        name: "full-all-the-time",
        causes: &[Cause::Saturated, Cause::NoTail],
        actions: &[Action::DoNotHedge, Action::None],
        check: Check::Anything,
        draw: |draw| {
            let pace = pace(draw);
            let system = FULL.draw(draw, pace)?;
            Ok(mostly_named(draw, Traffic::to(system)))
        },
        ..PATTERN
    },
    Family {
        name: "bursts-above-capacity",
        draw: |draw| {
            let pace = pace(draw);
            let mut system = Plan { utilisation: (0.35, 0.7), ..FULL }.draw(draw, pace)?;
            let rate = system.arrivals.rate().map_or(1.0, Rate::as_per_second);
            let factor = draw.between(1.15, 1.8) / load(&system);
            let part = draw.between(0.08, 0.9 / factor);
            system.arrivals = bursts(rate, factor, part, draw.magnitude(0.3, 3.0))?;
            Ok(mostly_named(draw, Traffic::to(system)))
        },
        ..PATTERN
    },
    // What others ask for is not seen, and what is seen is not more than before.
    Family {
        name: "surges-of-others",
        causes: &[Cause::Saturated, Cause::Shared],
        draw: |draw| {
            let pace = pace(draw);
            let system = Plan { utilisation: (0.2, 0.6), ..FULL }.draw(draw, pace)?;
            let when = at_random(draw.between(0.04, 0.25), draw.magnitude(0.3, 2.5));
            let traffic = Traffic::to(system);
            let surge = draw.between(1.15, 1.8) - load(&traffic.system);
            let rate = part_of_capacity(&traffic, surge)?;
            Ok(mostly_named(draw, traffic.others(when, rate)))
        },
        check: Check::TailByFault,
        ..PATTERN
    },
    Family {
        name: "regular-surges-of-others",
        half: Half::Tuning,
        causes: &[Cause::Saturated, Cause::Shared],
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = Plan { utilisation: (0.1, 0.4), instances: (3, 30), ..FULL }.draw(draw, pace)?;
            let when = regularly(draw.between(0.04, 0.15), draw.magnitude(0.3, 2.0));
            let traffic = Traffic::to(system);
            let surge = draw.between(1.2, 2.5) - load(&traffic.system);
            let rate = part_of_capacity(&traffic, surge)?;
            Ok(mostly_named(draw, traffic.others(when, rate)))
        },
        check: Check::TailByFault,
        ..PATTERN
    },
    // In steps, up to a little above what can be served.
    Family {
        name: "growing-load",
        half: Half::Tuning,
        causes: &[Cause::Saturated, Cause::Shared],
        draw: |draw| {
            let pace = pace(draw);
            let system = Plan { utilisation: (0.4, 0.6), ..FULL }.draw(draw, pace)?;
            let mut traffic = Traffic::to(system);
            let steps = 5;
            let step = (draw.between(1.0, 1.06) - load(&traffic.system)) / f64::from(steps);
            for number in 1..=steps {
                let rate = part_of_capacity(&traffic, step)?;
                traffic = traffic.others(once(f64::from(number) * 0.16, 1.0), rate);
            }
            Ok(mostly_named(draw, traffic))
        },
        check: Check::TailByFault,
        ..PATTERN
    },
    // Whatever finds a queue of some length is refused, which is fast.
    Family {
        name: "rejections",
        half: Half::Tuning,
        draw: |draw| {
            let pace = pace(draw);
            let plan = Plan { utilisation: (0.35, 0.7), balancing: &[Balancing::RoundRobin], ..FULL };
            let mut system = plan.draw(draw, pace)?;
            let rate = system.arrivals.rate().map_or(1.0, Rate::as_per_second);
            let factor = draw.between(1.2, 2.0) / load(&system);
            system.arrivals =
                bursts(rate, factor, draw.between(0.08, 0.9 / factor), draw.magnitude(0.5, 3.0))?;
            let most = system.slots.get() * draw.whole(4..=12) + 2;
            let traffic = Traffic::to(system).refused_beyond(most);
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
    // Queues of single instances become long by chance, and the next one is often empty.
    Family {
        name: "random-at-high-load",
        half: Half::Tuning,
        causes: &[Cause::Saturated, Cause::Independent, Cause::IndependentOrRequest, Cause::Mixed],
        actions: &[Action::DoNotHedge, Action::Canary, Action::Hedge],
        hedging: Hedging::Possible,
        check: Check::Anything,
        draw: |draw| {
            let pace = pace(draw);
            let plan = Plan { utilisation: (0.72, 0.88), balancing: &[Balancing::Random], ..FULL };
            let system = plan.draw(draw, pace)?;
            Ok(mostly_named(draw, Traffic::to(system)))
        },
    },
    // Clients that wait for their answers ask as fast as they get them, in spells.
    Family {
        name: "batch-of-others",
        causes: &[Cause::Saturated, Cause::Shared],
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let mut system = Plan { utilisation: (0.2, 0.45), ..FULL }.draw(draw, pace)?;
            let rate = system.arrivals.rate().map_or(1.0, Rate::as_per_second);
            let think = draw.magnitude(0.05, 0.5);
            let clients = units::whole(rate * (think + super::parts::service(&system)));
            let utilisation = load(&system);
            system.arrivals = Arrivals::ClosedLoop { clients, think: units::seconds(think) };
            let traffic = Traffic::to(system);
            let rate = part_of_capacity(&traffic, draw.between(1.25, 2.0) - utilisation)?;
            let when = at_random(draw.between(0.08, 0.2), draw.magnitude(0.5, 2.0));
            Ok(mostly_named(draw, traffic.others(when, rate)))
        },
        check: Check::TailByFault,
        ..PATTERN
    },
];
