//! One instance, or a few, are slow as a whole.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Balancing, Effect, Scope, When},
};

use super::parts::{any, load, mostly_named, once, one, slow_executions};
use crate::{
    case::{Check, Family, Half, Hedging, Traffic},
    pace::Pace,
    plan::{ALL, Arriving, BLIND, Plan},
    units,
};

const PATTERN: Family = Family {
    causes: &[Cause::Instance],
    actions: &[Action::Eject],
    hedging: Hedging::Possible,
    check: Check::TailByFault,
    ..Family::PATTERN
};

/// Few instances, so that one of them makes more than a hundredth of the traffic, and enough requests to each.
const FEW: Plan = Plan {
    instances: (3, 20),
    rate: (100.0, 1_500.0),
    utilisation: (0.05, 0.2),
    service: (0.001, 0.05),
    balancing: BLIND,
    arriving: &[Arriving::Alone, Arriving::Alone, Arriving::InBursts],
};

/// How many times as long an instance may take and still keep up.
fn bearable(load: f64, most: f64) -> f64 {
    (0.85 / load).min(most)
}

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "one-slow-instance",
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = FEW.draw(draw, pace)?;
            let most = bearable(load(&system), 15.0);
            let slower = Effect::Slower(draw.magnitude(3.8, most.max(4.2)));
            let scope = one(draw, &system);
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, When::Always, slower)))
        },
        ..PATTERN
    },
    // It cannot keep up, while the others have room.
    Family {
        name: "one-overrun-instance",
        causes: &[Cause::Instance, Cause::Saturated],
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = Plan { utilisation: (0.25, 0.6), ..FEW }.draw(draw, pace)?;
            let slower = Effect::Slower(draw.between(1.05, 1.6) / load(&system));
            let scope = one(draw, &system);
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, When::Always, slower)))
        },
        ..PATTERN
    },
    Family {
        name: "few-slow-instances",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { instances: (7, 30), rate: (200.0, 2_000.0), ..FEW };
            let system = plan.draw(draw, pace)?;
            let instances = system.instances.get();
            let slow = draw.some_of(draw_few(instances), instances);
            let most = bearable(load(&system), 12.0);
            let slower = Effect::Slower(draw.magnitude(4.0, most.max(4.5)));
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::Some(slow), When::Always, slower)))
        },
        ..PATTERN
    },
    // It has become slow while it was looked at.
    Family {
        name: "instance-slow-since",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { balancing: ALL, instances: (3, 12), ..FEW }.draw(draw, pace)?;
            let most = bearable(load(&system), 15.0);
            let slower = Effect::Slower(draw.magnitude(4.0, most.max(4.5)));
            let scope = one(draw, &system);
            let when = once(draw.between(0.1, 0.5), 1.0);
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, when, slower)))
        },
        ..PATTERN
    },
    Family {
        name: "hung-instance",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { arriving: &[Arriving::Alone], utilisation: (0.1, 0.4), ..FEW };
            let system = plan.draw(draw, pace)?;
            let scope = one(draw, &system);
            let when = if draw.chance(0.5) { When::Always } else { once(draw.between(0.1, 0.7), 1.0) };
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, when, Effect::Hang)))
        },
        ..PATTERN
    },
    // Some of its executions are slow, not all, and nobody else's.
    Family {
        name: "one-faulty-instance",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { instances: (3, 10), utilisation: (0.05, 0.3), ..FEW }.draw(draw, pace)?;
            let time = Pace::LogNormal(draw.between(0.1, 0.5));
            let time = time.of_mean(super::parts::service(&system) * draw.magnitude(8.0, 25.0))?;
            let share = units::share(draw.between(0.2, 0.6));
            let effect = Effect::Dependency { share, time, by_request: false };
            let scope = one(draw, &system);
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, When::Always, effect)))
        },
        ..PATTERN
    },
    // It refuses everything at once, which must not look fast, while executions of all others are slow now and then.
    Family {
        name: "failing-fast",
        half: Half::Tuning,
        causes: &[Cause::Independent, Cause::Mixed, Cause::IndependentOrRequest],
        actions: &[Action::Hedge, Action::Canary, Action::Eject],
        check: Check::Tail,
        draw: |draw| {
            let pace = slow_executions(draw);
            let system = Plan { instances: (4, 15), ..FEW }.draw(draw, pace)?;
            let scope = one(draw, &system);
            let down = Effect::Down { refuse_after: units::seconds(draw.magnitude(0.000_1, 0.001)) };
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, When::Always, down)))
        },
        ..PATTERN
    },
    // Nearly all traffic goes to one instance, whose executions are no slower than those of the others.
    Family {
        name: "one-has-most-traffic",
        causes: &[Cause::Independent, Cause::IndependentOrRequest],
        actions: &[Action::Hedge, Action::Canary],
        hedging: Hedging::Remedy,
        check: Check::Tail,
        draw: |draw| {
            let pace = slow_executions(draw);
            let plan = Plan { utilisation: (0.05, 0.12), balancing: &[Balancing::Random], ..FEW };
            let mut system = plan.draw(draw, pace)?;
            // Enough slots that the one has room for nine tenths of everything.
            system.slots = units::whole(f64::from(system.slots.get() * system.instances.get()));
            let favourite = any(draw, &system) as usize;
            let others = f64::from(system.instances.get() - 1);
            let mut traffic = Traffic::to(system);
            traffic.conditions.weights = vec![0.1 / others; traffic.system.instances.get() as usize];
            traffic.conditions.weights[favourite] = 0.9;
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
    // And with nearly all traffic it is full.
    Family {
        name: "one-full-of-most-traffic",
        half: Half::Tuning,
        causes: &[Cause::Saturated, Cause::Instance],
        actions: &[Action::Eject, Action::DoNotHedge],
        check: Check::Anything,
        draw: |draw| {
            let pace = Pace::any(draw);
            let plan = Plan {
                instances: (3, 8),
                balancing: &[Balancing::Random],
                arriving: &[Arriving::Alone],
                ..FEW
            };
            let system = plan.draw(draw, pace)?;
            let instances = f64::from(system.instances.get());
            let wanted = draw.between(0.93, 1.0) / (0.8 * instances);
            let system = system.at_utilisation(wanted).unwrap_or(system);
            let favourite = any(draw, &system) as usize;
            let mut traffic = Traffic::to(system);
            traffic.conditions.weights =
                vec![0.2 / (instances - 1.0); traffic.system.instances.get() as usize];
            traffic.conditions.weights[favourite] = 0.8;
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
];

/// How many are few: two, up to three tenths.
fn draw_few(instances: u32) -> u32 {
    (instances * 3 / 10).clamp(2, 5)
}
