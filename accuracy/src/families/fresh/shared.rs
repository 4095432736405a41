//! All instances are slow together, or many.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope},
};

use super::SHARED;
use crate::{
    case::{Family, Hedging, Traffic},
    families::parts::{at_random, mostly_named, once, regularly, service},
    pace::Pace,
    plan::{ALL, Arriving, Plan},
    units,
};

const BEHIND: Plan = Plan {
    instances: (3, 25),
    rate: (100.0, 1_500.0),
    utilisation: (0.05, 0.4),
    service: (0.001, 0.02),
    balancing: ALL,
    arriving: &[Arriving::Alone, Arriving::InBursts],
};

pub(super) const FAMILIES: &[Family] = &[
    // Two jobs, each in steps of its own.
    Family {
        name: "stalls-in-two-rhythms",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = BEHIND.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(10.0, 40.0)).clamp(0.04, 0.4);
            let [often, seldom] = [draw.magnitude(0.012, 0.04), draw.magnitude(0.01, 0.03)];
            let longer = draw.between(1.5, 4.0);
            let traffic = Traffic::to(system)
                .fault(Scope::All, regularly(often, length), Effect::Pause)
                .fault(Scope::All, regularly(seldom, length * longer), Effect::Pause);
            Ok(mostly_named(draw, traffic))
        },
        ..SHARED
    },
    Family {
        name: "stalls-at-high-rates",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan {
                instances: (10, 60),
                rate: (2_000.0, 4_000.0),
                service: (0.001, 0.006),
                arriving: &[Arriving::Alone],
                ..BEHIND
            };
            let system = plan.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(8.0, 50.0)).clamp(0.03, 0.4);
            let when = at_random(draw.magnitude(0.02, 0.08), length);
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, Effect::Pause)))
        },
        ..SHARED
    },
    Family {
        name: "stalls-at-low-rates",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { instances: (2, 6), rate: (30.0, 60.0), service: (0.002, 0.03), ..BEHIND };
            let system = plan.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(20.0, 80.0)).clamp(0.3, 1.2);
            let when = at_random(draw.magnitude(0.04, 0.12), length);
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, Effect::Pause)))
        },
        ..SHARED
    },
    Family {
        name: "two-brown-outs",
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { utilisation: (0.05, 0.2), ..BEHIND }.draw(draw, pace)?;
            let [first, second] = [draw.between(0.05, 0.4), draw.between(0.55, 0.85)];
            let [one, other] = [draw.between(0.03, 0.08), draw.between(0.02, 0.06)];
            let traffic = Traffic::to(system)
                .fault(Scope::All, once(first, first + one), Effect::Slower(draw.magnitude(4.5, 12.0)))
                .fault(Scope::All, once(second, second + other), Effect::Slower(draw.magnitude(4.5, 12.0)));
            Ok(mostly_named(draw, traffic))
        },
        ..SHARED
    },
    // A store that most executions wait for: a copy has to wait as well, and seldom does not.
    Family {
        name: "store-for-most-executions",
        causes: &[Cause::Shared, Cause::Mixed],
        actions: &[Action::DoNotHedge, Action::Canary],
        hedging: Hedging::Possible,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { utilisation: (0.03, 0.12), ..BEHIND }.draw(draw, pace)?;
            let mean = (service(&system) * draw.magnitude(8.0, 25.0)).min(0.25);
            let time = Pace::LogNormal(draw.between(0.2, 0.6)).of_mean(mean)?;
            let when = regularly(draw.magnitude(0.03, 0.12), mean * draw.magnitude(5.0, 15.0) + 0.3);
            let share = units::share(draw.between(0.75, 0.9));
            let effect = Effect::Dependency { share, time, by_request: false };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..SHARED
    },
    Family {
        name: "store-for-most-requests",
        causes: &[Cause::Shared, Cause::Mixed],
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = Plan { utilisation: (0.03, 0.12), ..BEHIND }.draw(draw, pace)?;
            let mean = (service(&system) * draw.magnitude(8.0, 25.0)).min(0.25);
            let time = Pace::LogNormal(draw.between(0.2, 0.6)).of_mean(mean)?;
            let when = at_random(draw.magnitude(0.03, 0.12), mean * draw.magnitude(5.0, 15.0) + 0.3);
            let share = units::share(draw.between(0.65, 0.9));
            let effect = Effect::Dependency { share, time, by_request: true };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..SHARED
    },
];
