//! Two causes at once.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope, When},
};

use super::parts::{at_random, costly_classes, equal_classes, load, one, service, slow_executions};
use crate::{
    case::{Family, Half, Hedging, Traffic},
    draw::Draw,
    pace::Pace,
    plan::{Arriving, BLIND, Plan},
};

const PATTERN: Family = Family {
    causes: &[Cause::Mixed],
    actions: &[Action::Canary, Action::DoNotHedge, Action::Hedge],
    hedging: Hedging::Possible,
    ..Family::PATTERN
};

const OPEN: Plan = Plan {
    instances: (3, 30),
    rate: (100.0, 1_500.0),
    utilisation: (0.1, 0.35),
    service: (0.001, 0.02),
    balancing: crate::plan::ALL,
    arriving: &[Arriving::Alone],
};

/// Some executions, this share of them, are slow.
fn slow(draw: &mut Draw, share: f64) -> Pace {
    Pace::Slow { share, factor: draw.magnitude(8.0, 30.0), sigma: draw.between(0.05, 0.3) }
}

/// Everything stops now and then, so that this share of requests is late.
fn stalls(draw: &mut Draw, traffic: Traffic, share: f64) -> Traffic {
    let length = (service(&traffic.system) * draw.magnitude(8.0, 30.0)).clamp(0.05, 0.5);
    let part = share * (1.0 - load(&traffic.system));
    traffic.fault(Scope::All, at_random(part, length), Effect::Pause)
}

/// The slow share as a whole, of which each cause has a part.
fn late(draw: &mut Draw) -> f64 {
    draw.magnitude(0.025, 0.05)
}

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "executions-and-stalls",
        causes: &[Cause::Mixed, Cause::Shared, Cause::Independent],
        draw: |draw| {
            let late = late(draw);
            let pace = slow(draw, late * 0.5);
            let traffic = Traffic::to(OPEN.draw(draw, pace)?).classes(equal_classes(draw));
            Ok(stalls(draw, traffic, late * 0.5))
        },
        ..PATTERN
    },
    Family {
        name: "executions-and-few-stalls",
        causes: &[Cause::Independent, Cause::Mixed],
        actions: &[Action::Hedge, Action::Canary],
        draw: |draw| {
            let late = late(draw);
            let pace = slow(draw, late * 0.85);
            let traffic = Traffic::to(OPEN.draw(draw, pace)?).classes(equal_classes(draw));
            Ok(stalls(draw, traffic, late * 0.15))
        },
        ..PATTERN
    },
    Family {
        name: "stalls-and-few-executions",
        half: Half::Tuning,
        causes: &[Cause::Shared, Cause::Mixed],
        actions: &[Action::DoNotHedge],
        hedging: Hedging::Forbidden,
        draw: |draw| {
            let late = late(draw);
            let pace = slow(draw, late * 0.2);
            let traffic = Traffic::to(OPEN.draw(draw, pace)?).classes(equal_classes(draw));
            Ok(stalls(draw, traffic, late * 1.2))
        },
        ..PATTERN
    },
    Family {
        name: "costly-class-and-few-pauses",
        half: Half::Tuning,
        causes: &[Cause::Request, Cause::Mixed],
        actions: &[Action::DoNotHedge, Action::Canary],
        draw: |draw| {
            let pace = Pace::even(draw);
            let late = late(draw);
            let traffic = Traffic::to(OPEN.draw(draw, pace)?);
            let costly = [(late * 0.8, draw.magnitude(8.0, 20.0))];
            let length = (service(&traffic.system) * draw.magnitude(10.0, 30.0)).clamp(0.03, 0.5);
            let when = at_random(late * 0.2 * (1.0 - load(&traffic.system)), length);
            Ok(traffic.classes(costly_classes(draw, &costly)).fault(Scope::EachAlone, when, Effect::Pause))
        },
        ..PATTERN
    },
    Family {
        name: "costly-class-and-executions",
        causes: &[Cause::Mixed, Cause::Request, Cause::Independent],
        draw: |draw| {
            let late = late(draw);
            let pace = slow(draw, late * 0.5);
            let costly = [(late * 0.5, draw.magnitude(8.0, 20.0))];
            Ok(Traffic::to(OPEN.draw(draw, pace)?).classes(costly_classes(draw, &costly)))
        },
        ..PATTERN
    },
    Family {
        name: "slow-instance-and-executions",
        half: Half::Tuning,
        causes: &[Cause::Mixed, Cause::Instance, Cause::Independent],
        actions: &[Action::Eject, Action::Hedge, Action::Canary],
        draw: |draw| {
            let pace = slow_executions(draw);
            let plan = Plan { instances: (10, 30), utilisation: (0.05, 0.15), balancing: BLIND, ..OPEN };
            let system = plan.draw(draw, pace)?;
            let scope = one(draw, &system);
            let slower = Effect::Slower(draw.magnitude(4.0, 6.0));
            Ok(Traffic::to(system).classes(equal_classes(draw)).fault(scope, When::Always, slower))
        },
        ..PATTERN
    },
    // Pauses of single instances while a store behind all of them stands still at other times.
    Family {
        name: "pauses-and-stalls",
        half: Half::Tuning,
        causes: &[Cause::Mixed, Cause::Shared, Cause::Independent],
        draw: |draw| {
            let pace = Pace::even(draw);
            let late = late(draw);
            let traffic = Traffic::to(OPEN.draw(draw, pace)?).classes(equal_classes(draw));
            let length = (service(&traffic.system) * draw.magnitude(10.0, 30.0)).clamp(0.03, 0.5);
            let when = at_random(late * 0.5 * (1.0 - load(&traffic.system)), length);
            let traffic = traffic.fault(Scope::EachAlone, when, Effect::Pause);
            Ok(stalls(draw, traffic, late * 0.5))
        },
        ..PATTERN
    },
];
