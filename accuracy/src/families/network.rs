//! The way to the instances and back.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope, When},
};

use super::parts::{at_random, mostly_named, one, service};
use crate::{
    case::{Check, Family, Half, Hedging, Traffic},
    pace::Pace,
    plan::{BLIND, Plan},
    units,
};

const PATTERN: Family = Family {
    causes: &[Cause::Network],
    actions: &[Action::DoNotHedge, Action::Canary, Action::Hedge],
    hedging: Hedging::Possible,
    check: Check::TailByFault,
    ..Family::PATTERN
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "loss-everywhere",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = Plan { service: (0.001, 0.03), ..Plan::default() }.draw(draw, pace)?;
            let timeout =
                units::seconds(draw.one_of(&[0.2_f64, 0.2, 0.21, 0.4, 1.0]).max(service(&system) * 5.0));
            let share = units::share(draw.magnitude(0.013, 0.06));
            let effect = Effect::Loss { share, timeout };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, When::Always, effect)))
        },
        ..PATTERN
    },
    // In spells, as a full queue somewhere makes it.
    Family {
        name: "spells-of-loss",
        half: Half::Tuning,
        causes: &[Cause::Network, Cause::Shared],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { service: (0.001, 0.02), ..Plan::default() }.draw(draw, pace)?;
            let timeout = units::seconds(draw.magnitude(0.2, 0.5));
            let part = draw.between(0.1, 0.3);
            let share = units::share(draw.magnitude(0.015, 0.05) / part);
            let effect = Effect::Loss { share, timeout };
            let when = at_random(part, draw.magnitude(0.3, 3.0));
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..PATTERN
    },
    Family {
        name: "loss-on-one-path",
        half: Half::Tuning,
        causes: &[Cause::Network, Cause::Instance],
        actions: &[Action::Eject, Action::Hedge, Action::Canary, Action::DoNotHedge],
        draw: |draw| {
            let pace = Pace::any(draw);
            let plan =
                Plan { instances: (3, 10), service: (0.001, 0.02), balancing: BLIND, ..Plan::default() };
            let system = plan.draw(draw, pace)?;
            let timeout = units::seconds(draw.one_of(&[0.2_f64, 0.22, 0.5]).max(service(&system) * 5.0));
            let share = units::share(draw.between(0.15, 0.5));
            let scope = one(draw, &system);
            let effect = Effect::Loss { share, timeout };
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, When::Always, effect)))
        },
        ..PATTERN
    },
    // One instance is in another city.
    Family {
        name: "far-instance",
        causes: &[Cause::Network, Cause::Instance],
        actions: &[Action::Eject, Action::DoNotHedge],
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan =
                Plan { instances: (3, 15), service: (0.001, 0.015), balancing: BLIND, ..Plan::default() };
            let system = plan.draw(draw, pace)?;
            let added = units::seconds((service(&system) * draw.magnitude(4.0, 15.0)).max(0.01));
            let scope = one(draw, &system);
            let effect = Effect::RoundTrip { added };
            Ok(mostly_named(draw, Traffic::to(system).fault(scope, When::Always, effect)))
        },
        ..PATTERN
    },
    // All paths become longer at times: a copy takes one of them too.
    Family {
        name: "long-ways-at-times",
        half: Half::Tuning,
        causes: &[Cause::Network, Cause::Shared],
        actions: &[Action::DoNotHedge],
        hedging: Hedging::Forbidden,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { service: (0.001, 0.02), ..Plan::default() }.draw(draw, pace)?;
            let added = units::seconds((service(&system) * draw.magnitude(4.0, 15.0)).max(0.01));
            let when = at_random(draw.magnitude(0.03, 0.15), draw.magnitude(0.3, 3.0));
            let effect = Effect::RoundTrip { added };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..PATTERN
    },
];
