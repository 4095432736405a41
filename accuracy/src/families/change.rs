//! Things change while they are looked at.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope},
};

use super::parts::{equal_classes, once, slow_executions};
use crate::{
    case::{Check, Family, Half, Hedging, Traffic},
    pace::Pace,
    plan::{Arriving, Plan, bursts},
};

const PATTERN: Family = Family::PATTERN;

const CALM: Plan = Plan {
    instances: (3, 30),
    rate: (80.0, 2_000.0),
    utilisation: (0.05, 0.25),
    service: (0.001, 0.03),
    balancing: crate::plan::ALL,
    arriving: &[Arriving::Alone],
};

pub(super) const FAMILIES: &[Family] = &[
    // A new version makes everything faster or slower from a moment on; some executions are slow before and after.
    Family {
        name: "deployment-and-executions",
        draw: |draw| {
            let pace = slow_executions(draw);
            let system = CALM.draw(draw, pace)?;
            let factor = if draw.chance(0.5) { draw.between(0.5, 0.8) } else { draw.between(1.3, 1.9) };
            let when = once(draw.between(0.2, 0.8), 1.0);
            Ok(Traffic::to(system).classes(equal_classes(draw)).fault(
                Scope::All,
                when,
                Effect::Slower(factor),
            ))
        },
        ..PATTERN
    },
    // A new version that everything is slow with, for as long as it takes to take it back.
    Family {
        name: "bad-deployment",
        half: Half::Tuning,
        causes: &[Cause::Shared],
        actions: &[Action::DoNotHedge],
        hedging: Hedging::Forbidden,
        check: Check::TailByFault,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = CALM.draw(draw, pace)?;
            let from = draw.between(0.1, 0.6);
            let when = once(from, from + draw.between(0.05, 0.35));
            let slower = Effect::Slower(draw.magnitude(4.0, 10.0));
            Ok(Traffic::to(system).classes(equal_classes(draw)).fault(Scope::All, when, slower))
        },
    },
    // Caches become warm, or heaps full, over the whole minute.
    Family {
        name: "drift-and-executions",
        half: Half::Tuning,
        draw: |draw| {
            let pace = slow_executions(draw);
            let system = CALM.draw(draw, pace)?;
            let mut traffic = Traffic::to(system).classes(equal_classes(draw));
            let (up, step) = (draw.chance(0.5), draw.between(1.04, 1.11));
            for number in 1..8 {
                let edge = f64::from(number) / 8.0;
                let when = if up { once(edge, 1.0) } else { once(0.0, edge) };
                traffic = traffic.fault(Scope::All, when, Effect::Slower(step));
            }
            Ok(traffic)
        },
        ..PATTERN
    },
    // More requests for a while, for which there is room.
    Family {
        name: "peak-and-executions",
        draw: |draw| {
            let pace = slow_executions(draw);
            let mut system = CALM.draw(draw, pace)?;
            let rate = system.arrivals.rate().map_or(1.0, observer::simulation::Rate::as_per_second);
            let factor = draw.between(1.5, 2.8);
            system.arrivals = bursts(rate, factor, draw.between(0.1, 0.3), draw.magnitude(2.0, 15.0))?;
            Ok(Traffic::to(system).classes(equal_classes(draw)))
        },
        ..PATTERN
    },
];
