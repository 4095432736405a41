//! Two causes, as large as each other or not.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope, When},
};

use super::{INDEPENDENT, SHARED};
use crate::{
    case::{Check, Family, Hedging, Traffic},
    draw::Draw,
    families::parts::{at_random, costly_classes, equal_classes, load, one, regularly, service},
    pace::Pace,
    plan::{ALL, Arriving, BLIND, Plan},
    units,
};

const BOTH: Family = Family {
    causes: &[Cause::Mixed],
    actions: &[Action::Canary, Action::DoNotHedge, Action::Hedge],
    hedging: Hedging::Possible,
    ..INDEPENDENT
};

const OPEN: Plan = Plan {
    instances: (4, 20),
    rate: (200.0, 1_500.0),
    utilisation: (0.06, 0.3),
    service: (0.001, 0.015),
    balancing: ALL,
    arriving: &[Arriving::Alone],
};

fn slow(draw: &mut Draw, share: f64) -> Pace {
    Pace::Slow { share, factor: draw.magnitude(8.0, 25.0), sigma: draw.between(0.05, 0.3) }
}

/// How long something stands still, in seconds.
fn length(draw: &mut Draw, traffic: &Traffic) -> f64 {
    (service(&traffic.system) * draw.magnitude(10.0, 30.0)).clamp(0.04, 0.4)
}

/// The slow share as a whole.
fn late(draw: &mut Draw) -> f64 {
    draw.magnitude(0.028, 0.045)
}

/// What is slow by itself in a part of all that is late, and stalls of all in regular steps.
fn executions_and_stalls(draw: &mut Draw, part: f64) -> anyhow::Result<Traffic> {
    let late = late(draw);
    let pace = slow(draw, late * part);
    let traffic = Traffic::to(OPEN.draw(draw, pace)?).classes(equal_classes(draw));
    let length = length(draw, &traffic);
    let when = regularly(late * (1.0 - part) * (1.0 - load(&traffic.system)), length);
    Ok(traffic.fault(Scope::All, when, Effect::Pause))
}

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "three-in-ten-executions-else-stalls",
        causes: &[Cause::Mixed, Cause::Shared],
        draw: |draw| executions_and_stalls(draw, 0.3),
        ..BOTH
    },
    Family {
        name: "seven-in-ten-executions-else-stalls",
        causes: &[Cause::Mixed, Cause::Independent],
        draw: |draw| executions_and_stalls(draw, 0.7),
        ..BOTH
    },
    // Both are as good as independent.
    Family {
        name: "executions-and-pauses",
        causes: &[Cause::Independent, Cause::Mixed],
        draw: |draw| {
            let late = late(draw);
            let pace = slow(draw, late * 0.5);
            let traffic = Traffic::to(OPEN.draw(draw, pace)?).classes(equal_classes(draw));
            let length = length(draw, &traffic);
            let when = at_random(late * 0.5 * (1.0 - load(&traffic.system)), length);
            Ok(traffic.fault(Scope::EachAlone, when, Effect::Pause))
        },
        ..INDEPENDENT
    },
    Family {
        name: "costly-class-and-pauses",
        causes: &[Cause::Mixed, Cause::Request, Cause::Independent],
        draw: |draw| {
            let late = late(draw);
            let pace = Pace::even(draw);
            let costly = [(late * 0.5, draw.magnitude(8.0, 20.0))];
            let traffic = Traffic::to(OPEN.draw(draw, pace)?).classes(costly_classes(draw, &costly));
            let length = length(draw, &traffic);
            let when = at_random(late * 0.5 * (1.0 - load(&traffic.system)), length);
            Ok(traffic.fault(Scope::EachAlone, when, Effect::Pause))
        },
        ..BOTH
    },
    Family {
        name: "stalls-and-a-few-costly",
        causes: &[Cause::Shared, Cause::Mixed],
        check: Check::Tail,
        draw: |draw| {
            let late = late(draw);
            let pace = Pace::even(draw);
            let costly = [(late * 0.2, draw.magnitude(8.0, 20.0))];
            let traffic = Traffic::to(OPEN.draw(draw, pace)?).classes(costly_classes(draw, &costly));
            let length = length(draw, &traffic);
            let when = at_random(late * (1.0 - load(&traffic.system)), length);
            Ok(traffic.fault(Scope::All, when, Effect::Pause))
        },
        ..SHARED
    },
    Family {
        name: "loss-and-executions",
        causes: &[Cause::Mixed, Cause::Network, Cause::Independent],
        draw: |draw| {
            let late = late(draw);
            let pace = slow(draw, late * 0.5);
            let traffic = Traffic::to(OPEN.draw(draw, pace)?).classes(equal_classes(draw));
            let timeout = units::seconds(draw.between(0.2, 0.3));
            let effect = Effect::Loss { share: units::share(late * 0.5), timeout };
            Ok(traffic.fault(Scope::All, When::Always, effect))
        },
        ..BOTH
    },
    // One of many is slow, and at times everything stands still.
    Family {
        name: "slow-instance-and-stalls",
        causes: &[Cause::Mixed, Cause::Instance, Cause::Shared],
        actions: &[Action::Eject, Action::DoNotHedge, Action::Canary],
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { instances: (12, 25), utilisation: (0.05, 0.12), balancing: BLIND, ..OPEN };
            let traffic = Traffic::to(plan.draw(draw, pace)?).classes(equal_classes(draw));
            let scope = one(draw, &traffic.system);
            let length = length(draw, &traffic);
            let when = at_random(draw.magnitude(0.02, 0.04), length);
            let slower = Effect::Slower(draw.magnitude(4.5, 7.0));
            Ok(traffic.fault(scope, When::Always, slower).fault(Scope::All, when, Effect::Pause))
        },
        ..BOTH
    },
];
