//! Two instances only.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Balancing, Effect, Scope, When},
};

use super::parts::{at_random, equal_classes, load, service, slow_executions};
use crate::{
    case::{Check, Family, Half, Hedging, Traffic},
    pace::Pace,
    plan::{Arriving, Plan},
};

const PATTERN: Family = Family::PATTERN;

const TWO: Plan = Plan {
    instances: (2, 2),
    rate: (60.0, 1_500.0),
    utilisation: (0.05, 0.4),
    service: (0.001, 0.03),
    balancing: crate::plan::ALL,
    arriving: &[Arriving::Alone, Arriving::InBursts],
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "two-with-slow-executions",
        draw: |draw| {
            let pace = slow_executions(draw);
            Ok(Traffic::to(TWO.draw(draw, pace)?).classes(equal_classes(draw)))
        },
        ..PATTERN
    },
    Family {
        name: "two-of-which-one-is-slow",
        causes: &[Cause::Instance],
        actions: &[Action::Eject],
        hedging: Hedging::Possible,
        check: Check::TailByFault,
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { utilisation: (0.03, 0.12), balancing: &[Balancing::Random], ..TWO };
            let system = plan.draw(draw, pace)?;
            let slower = Effect::Slower(draw.magnitude(4.0, 0.8 / load(&system)));
            let mut traffic = Traffic::to(system).classes(equal_classes(draw));
            // With half of all requests the slow one would decide what the median is.
            let weight = draw.between(0.25, 0.4);
            traffic.conditions.weights = vec![weight, 1.0 - weight];
            Ok(traffic.fault(Scope::One(0), When::Always, slower))
        },
        ..PATTERN
    },
    Family {
        name: "two-that-pause",
        half: Half::Tuning,
        check: Check::TailByFault,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = TWO.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(10.0, 50.0)).clamp(0.03, 0.4);
            let when = at_random(draw.magnitude(0.018, 0.04) * (1.0 - load(&system)), length);
            Ok(Traffic::to(system).classes(equal_classes(draw)).fault(Scope::EachAlone, when, Effect::Pause))
        },
        ..PATTERN
    },
    Family {
        name: "two-that-stall-together",
        half: Half::Tuning,
        causes: &[Cause::Shared],
        actions: &[Action::DoNotHedge],
        hedging: Hedging::Forbidden,
        check: Check::TailByFault,
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = TWO.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(10.0, 50.0)).clamp(0.05, 0.6);
            let when = at_random(draw.magnitude(0.025, 0.1), length);
            Ok(Traffic::to(system).classes(equal_classes(draw)).fault(Scope::All, when, Effect::Pause))
        },
    },
];
