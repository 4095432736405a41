//! Ways that lose what is sent, or become longer.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope, When},
};

use super::INDEPENDENT;
use crate::{
    case::{Check, Family, Hedging, Traffic},
    families::parts::{mostly_named, once, one, service},
    pace::Pace,
    plan::{BLIND, Plan},
    units,
};

const WAYS: Family = Family {
    causes: &[Cause::Network],
    actions: &[Action::DoNotHedge, Action::Canary, Action::Hedge],
    hedging: Hedging::Possible,
    check: Check::TailByFault,
    ..INDEPENDENT
};

const PLAN: Plan = Plan {
    instances: (3, 15),
    rate: (100.0, 1_500.0),
    utilisation: (0.05, 0.4),
    service: (0.001, 0.02),
    balancing: BLIND,
    arriving: &[crate::plan::Arriving::Alone, crate::plan::Arriving::InBursts],
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "loss-since-a-moment",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { balancing: crate::plan::ALL, ..PLAN };
            let system = plan.draw(draw, pace)?;
            let timeout = units::seconds(draw.magnitude(0.2, 0.6).max(service(&system) * 6.0));
            let share = units::share(draw.magnitude(0.03, 0.1));
            let when = once(draw.between(0.2, 0.5), 1.0);
            let effect = Effect::Loss { share, timeout };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..WAYS
    },
    Family {
        name: "loss-on-two-ways",
        causes: &[Cause::Network, Cause::Instance],
        actions: &[Action::Eject, Action::Hedge, Action::Canary, Action::DoNotHedge],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { instances: (6, 15), ..PLAN }.draw(draw, pace)?;
            let timeout = units::seconds(draw.magnitude(0.2, 0.4).max(service(&system) * 6.0));
            let share = units::share(draw.between(0.12, 0.35));
            let two = Scope::Some(draw.some_of(2, system.instances.get()));
            let effect = Effect::Loss { share, timeout };
            Ok(mostly_named(draw, Traffic::to(system).fault(two, When::Always, effect)))
        },
        ..WAYS
    },
    // From a moment on one of them is reached by way of another city.
    Family {
        name: "detour-to-one",
        causes: &[Cause::Network, Cause::Instance],
        actions: &[Action::Eject, Action::DoNotHedge],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { instances: (3, 10), service: (0.001, 0.01), ..PLAN }.draw(draw, pace)?;
            let added = units::seconds((service(&system) * draw.magnitude(5.0, 20.0)).max(0.015));
            let scope = one(draw, &system);
            let when = once(draw.between(0.2, 0.6), 1.0);
            let effect = Effect::RoundTrip { added };
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, when, effect)))
        },
        ..WAYS
    },
];
