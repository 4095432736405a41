//! Instances that are slow as a whole, since some moment or for some time.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope, System, When},
};

use super::INDEPENDENT;
use crate::{
    case::{Check, Family, Hedging, Traffic},
    draw::Draw,
    families::parts::{at_random, load, mostly_named, once, one, service, slow_executions},
    pace::Pace,
    plan::{ALL, Arriving, BLIND, LEVEL, Plan},
    units,
};

const SLOW: Family = Family {
    causes: &[Cause::Instance],
    actions: &[Action::Eject],
    hedging: Hedging::Possible,
    check: Check::TailByFault,
    ..INDEPENDENT
};

const FEW: Plan = Plan {
    instances: (4, 16),
    rate: (120.0, 1_200.0),
    utilisation: (0.05, 0.2),
    service: (0.002, 0.03),
    balancing: BLIND,
    arriving: &[Arriving::Alone],
};

/// One instance answers nothing for a while.
fn hung_for_a_while(draw: &mut Draw, system: System) -> Traffic {
    let scope = one(draw, &system);
    let from = draw.between(0.1, 0.5);
    let when = once(from, from + draw.between(0.2, 0.4));
    mostly_named(draw, Traffic::to(system).fault(scope, when, Effect::Hang))
}

pub(super) const FAMILIES: &[Family] = &[
    // From the middle on it needs twice as long, which is more than it has time for.
    Family {
        name: "half-speed-since-the-middle",
        causes: &[Cause::Instance, Cause::Saturated],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { utilisation: (0.55, 0.75), ..FEW }.draw(draw, pace)?;
            let (scope, slower) = (one(draw, &system), Effect::Slower(draw.between(1.9, 2.3)));
            let when = once(draw.between(0.4, 0.6), 1.0);
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, when, slower)))
        },
        ..SLOW
    },
    Family {
        name: "two-of-nine-slow",
        draw: |draw| {
            let pace = Pace::even(draw);
            let mut system = Plan { instances: (9, 9), rate: (150.0, 1_500.0), ..FEW }.draw(draw, pace)?;
            system.instances = units::whole(9.0);
            let slower = Effect::Slower(draw.magnitude(4.0, (0.8 / load(&system)).clamp(4.5, 10.0)));
            let two = Scope::Some(draw.some_of(2, 9));
            Ok(mostly_named(draw, Traffic::to(system).fault(two, When::Always, slower)))
        },
        ..SLOW
    },
    // Its caches are cold at first.
    Family {
        name: "slow-in-the-beginning",
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { instances: (3, 10), utilisation: (0.05, 0.15), ..FEW }.draw(draw, pace)?;
            let scope = one(draw, &system);
            let slower = Effect::Slower(draw.magnitude(4.5, 7.0));
            let when = once(0.0, draw.between(0.35, 0.65));
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, when, slower)))
        },
        ..SLOW
    },
    // It comes back.
    Family {
        name: "hung-for-a-while",
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { utilisation: (0.1, 0.35), ..FEW }.draw(draw, pace)?;
            Ok(hung_for_a_while(draw, system))
        },
        ..SLOW
    },
    // Balancing by what is in flight leaves it with a handful of requests: nothing happens to the p99.
    Family {
        name: "hung-and-avoided",
        causes: &[Cause::NoTail, Cause::Instance],
        actions: &[Action::None, Action::Eject],
        check: Check::NoTail,
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { utilisation: (0.05, 0.2), rate: (250.0, 1_200.0), balancing: LEVEL, ..FEW };
            let system = plan.draw(draw, pace)?;
            Ok(hung_for_a_while(draw, system))
        },
        ..SLOW
    },
    // It answers with failures, once it has waited in vain.
    Family {
        name: "failing-late",
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { arriving: &[Arriving::Alone, Arriving::InBursts], ..FEW }.draw(draw, pace)?;
            let scope = one(draw, &system);
            let refuse_after = units::seconds(service(&system) * draw.magnitude(8.0, 40.0));
            let when = if draw.chance(0.5) { When::Always } else { once(draw.between(0.2, 0.6), 1.0) };
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, when, Effect::Down { refuse_after })))
        },
        ..SLOW
    },
    // It refuses at once, at times; executions of all are slow now and then.
    Family {
        name: "failing-in-spells-and-executions",
        causes: &[Cause::Independent, Cause::Mixed, Cause::IndependentOrRequest],
        actions: &[Action::Hedge, Action::Canary, Action::Eject],
        hedging: Hedging::Remedy,
        check: Check::Tail,
        draw: |draw| {
            let pace = slow_executions(draw);
            let system = Plan { balancing: ALL, ..FEW }.draw(draw, pace)?;
            let scope = one(draw, &system);
            let when = at_random(draw.between(0.1, 0.4), draw.between(0.5, 4.0));
            let down = Effect::Down { refuse_after: units::seconds(draw.magnitude(0.000_1, 0.000_5)) };
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, when, down)))
        },
        ..SLOW
    },
];
