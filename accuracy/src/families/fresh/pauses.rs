//! Single instances stop or slow down, for times of other lengths.

use observer::simulation::{Effect, Scope};

use super::PAUSES;
use crate::{
    case::{Family, Traffic},
    families::parts::{at_random, load, mostly_named, regularly, service},
    pace::Pace,
    plan::{ALL, Arriving, BLIND, Plan},
};

const OPEN: Plan = Plan {
    instances: (4, 25),
    rate: (120.0, 1_500.0),
    utilisation: (0.08, 0.4),
    service: (0.001, 0.015),
    balancing: ALL,
    arriving: &[Arriving::Alone],
};

pub(super) const FAMILIES: &[Family] = &[
    // As of a log-normal distribution: many short ones, fewer of three times and of nine times the length.
    Family {
        name: "pauses-of-any-length",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = OPEN.draw(draw, pace)?;
            let short = (service(&system) * draw.magnitude(8.0, 20.0)).clamp(0.015, 0.15);
            let part = draw.magnitude(0.018, 0.04) * (1.0 - load(&system));
            let mut traffic = Traffic::to(system);
            for (longer, of_it) in [(1.0, 0.4), (3.0, 0.4), (9.0, 0.2)] {
                let when = at_random(part * of_it, short * longer);
                traffic = traffic.fault(Scope::EachAlone, when, Effect::Pause);
            }
            Ok(mostly_named(draw, traffic))
        },
        ..PAUSES
    },
    // A collection of garbage that leaves a little of the processor, in steps.
    Family {
        name: "regular-slow-moments-of-each",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { utilisation: (0.05, 0.2), balancing: BLIND, ..OPEN };
            let system = plan.draw(draw, pace)?;
            let factor = draw.magnitude(6.0, 20.0);
            let length = (service(&system) * draw.magnitude(30.0, 120.0)).clamp(0.08, 0.8);
            let part = draw.magnitude(0.018, 0.035);
            let slower = Effect::Slower(factor);
            let traffic = Traffic::to(system).fault(Scope::EachAlone, regularly(part, length), slower);
            Ok(mostly_named(draw, traffic))
        },
        ..PAUSES
    },
    Family {
        name: "pauses-at-high-rates",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan =
                Plan { instances: (15, 60), rate: (2_000.0, 4_000.0), service: (0.001, 0.008), ..OPEN };
            let system = plan.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(10.0, 40.0)).clamp(0.02, 0.3);
            let part = draw.magnitude(0.016, 0.035) * (1.0 - load(&system));
            let traffic = Traffic::to(system).fault(Scope::EachAlone, at_random(part, length), Effect::Pause);
            Ok(mostly_named(draw, traffic))
        },
        ..PAUSES
    },
];
