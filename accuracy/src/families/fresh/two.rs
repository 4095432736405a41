//! Two instances, and traffic that goes to one for the most part.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Balancing, Effect, Scope},
};

use super::{INDEPENDENT, PAUSES, SHARED};
use crate::{
    case::{Family, Hedging, Traffic},
    families::parts::{at_random, equal_classes, load, mostly_named, regularly, service},
    pace::Pace,
    plan::{ALL, Arriving, Plan},
    units,
};

const TWO: Plan = Plan {
    instances: (2, 2),
    rate: (80.0, 1_200.0),
    utilisation: (0.05, 0.35),
    service: (0.001, 0.02),
    balancing: ALL,
    arriving: &[Arriving::Alone],
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "two-and-lookups-unnamed",
        causes: &[Cause::IndependentOrRequest, Cause::Independent],
        actions: &[Action::Canary, Action::Hedge],
        draw: |draw| {
            let pace = Pace::LogNormal(draw.between(0.8, 1.1));
            Ok(Traffic::to(TWO.draw(draw, pace)?))
        },
        ..INDEPENDENT
    },
    // The other one never does.
    Family {
        name: "two-of-which-one-pauses",
        causes: &[Cause::Instance, Cause::Independent, Cause::IndependentOrRequest, Cause::Mixed],
        actions: &[Action::Eject, Action::Hedge, Action::Canary],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = TWO.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(10.0, 40.0)).clamp(0.04, 0.4);
            let when = at_random(draw.magnitude(0.035, 0.08) * (1.0 - load(&system)), length);
            let which = Scope::One(draw.whole(0..=1));
            Ok(mostly_named(draw, Traffic::to(system).fault(which, when, Effect::Pause)))
        },
        ..PAUSES
    },
    Family {
        name: "two-behind-a-slow-store",
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { utilisation: (0.03, 0.12), ..TWO }.draw(draw, pace)?;
            let mean = (service(&system) * draw.magnitude(8.0, 25.0)).min(0.25);
            let time = Pace::even(draw).of_mean(mean)?;
            let when = regularly(draw.magnitude(0.03, 0.1), mean * draw.magnitude(5.0, 15.0) + 0.3);
            let effect = Effect::Dependency { share: units::share(1.0), time, by_request: false };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..SHARED
    },
    // Nearly all traffic goes to one, and each stops at times of its own.
    Family {
        name: "most-traffic-to-one-that-pauses",
        causes: &[Cause::Independent, Cause::IndependentOrRequest, Cause::Instance],
        actions: &[Action::Hedge, Action::Canary, Action::Eject],
        hedging: Hedging::Possible,
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { instances: (3, 8), balancing: &[Balancing::Random], ..TWO };
            let mut system = plan.draw(draw, pace)?;
            let instances = system.instances.get();
            system.slots = units::whole(f64::from(system.slots.get() * instances));
            let length = (service(&system) * draw.magnitude(10.0, 40.0)).clamp(0.04, 0.4);
            let when = at_random(draw.magnitude(0.018, 0.035), length);
            let mut traffic = Traffic::to(system).classes(equal_classes(draw));
            traffic.conditions.weights = vec![0.1 / f64::from(instances - 1); instances as usize];
            traffic.conditions.weights[draw.whole(0..=instances - 1) as usize] = 0.9;
            Ok(traffic.fault(Scope::EachAlone, when, Effect::Pause))
        },
        ..PAUSES
    },
];
