//! All instances are slow together, because of something that they share.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope},
};

use super::parts::{at_random, mostly_named, once, regularly, service};
use crate::{
    case::{Check, Family, Half, Hedging, Traffic},
    pace::Pace,
    plan::{ALL, Arriving, Plan},
};

pub(super) const PATTERN: Family = Family {
    causes: &[Cause::Shared],
    actions: &[Action::DoNotHedge],
    hedging: Hedging::Forbidden,
    check: Check::TailByFault,
    ..Family::PATTERN
};

pub(super) const BEHIND: Plan = Plan {
    instances: (3, 30),
    rate: (50.0, 2_000.0),
    utilisation: (0.1, 0.6),
    service: (0.001, 0.03),
    balancing: ALL,
    arriving: &[Arriving::Alone, Arriving::Alone, Arriving::InBursts],
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "stalls",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = BEHIND.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(8.0, 60.0)).clamp(0.05, 0.8);
            let when = at_random(draw.magnitude(0.02, 0.12), length);
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, Effect::Pause)))
        },
        ..PATTERN
    },
    Family {
        name: "slow-episodes",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = Plan { utilisation: (0.05, 0.3), ..BEHIND }.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(30.0, 200.0)).clamp(0.2, 2.0);
            let when = at_random(draw.magnitude(0.03, 0.2), length);
            let slower = Effect::Slower(draw.magnitude(4.0, 15.0));
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, slower)))
        },
        ..PATTERN
    },
    // The same job begins everywhere at the full minute, or the full second.
    Family {
        name: "jobs-at-the-same-time",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = BEHIND.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(8.0, 50.0)).clamp(0.04, 0.6);
            let when = regularly(draw.magnitude(0.02, 0.08), length);
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, Effect::Pause)))
        },
        ..PATTERN
    },
    Family {
        name: "slow-jobs-at-the-same-time",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { utilisation: (0.05, 0.25), ..BEHIND }.draw(draw, pace)?;
            let when = regularly(draw.magnitude(0.03, 0.1), draw.between(0.3, 1.5));
            let slower = Effect::Slower(draw.magnitude(5.0, 20.0));
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, slower)))
        },
        ..PATTERN
    },
    // Few instances are spared: what is shared is a switch, or a zone.
    Family {
        name: "stalls-of-most",
        half: Half::Tuning,
        causes: &[Cause::Shared, Cause::Mixed],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { instances: (5, 30), ..BEHIND }.draw(draw, pace)?;
            let instances = system.instances.get();
            let spared = instances / draw.whole(5..=8);
            let struck = draw.some_of(instances - spared, instances);
            let length = (service(&system) * draw.magnitude(10.0, 60.0)).clamp(0.05, 0.8);
            let when = at_random(draw.magnitude(0.02, 0.1), length);
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::Some(struck), when, Effect::Pause)))
        },
        ..PATTERN
    },
    Family {
        name: "two-long-outages",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = Plan { rate: (100.0, 1_000.0), ..BEHIND }.draw(draw, pace)?;
            let [first, second] = [draw.between(0.1, 0.4), draw.between(0.55, 0.85)];
            let [long, short] = [draw.between(0.02, 0.05), draw.between(0.01, 0.03)];
            let traffic = Traffic::to(system)
                .fault(Scope::All, once(first, first + long), Effect::Pause)
                .fault(Scope::All, once(second, second + short), Effect::Pause);
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
    // So short that each strikes a handful of requests.
    Family {
        name: "many-short-stalls",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { rate: (300.0, 2_000.0), service: (0.001, 0.008), ..BEHIND };
            let system = plan.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(5.0, 12.0)).clamp(0.01, 0.08);
            let when = at_random(draw.magnitude(0.03, 0.1), length);
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, Effect::Pause)))
        },
        ..PATTERN
    },
];
