//! Single instances stop or slow down for a moment, each at times of its own.

use observer::{
    analysis::model::Cause,
    simulation::{Effect, Scope},
};

use super::parts::{at_random, load, mostly_named, regularly, service};
use crate::{
    case::{Check, Family, Half, Traffic},
    pace::Pace,
    plan::{Arriving, BLIND, Plan},
};

const PATTERN: Family = Family {
    causes: &[Cause::Independent, Cause::IndependentOrRequest],
    check: Check::TailByFault,
    ..Family::PATTERN
};

/// Open, since clients that wait for their answers hardly ask while one instance stops.
const OPEN: Plan = Plan {
    instances: (3, 30),
    rate: (60.0, 2_000.0),
    utilisation: (0.1, 0.5),
    service: (0.001, 0.02),
    balancing: crate::plan::ALL,
    arriving: &[Arriving::Alone, Arriving::Alone, Arriving::InBursts],
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "short-pauses",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = OPEN.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(10.0, 50.0)).clamp(0.02, 0.6);
            // What has piled up is late as well.
            let part = draw.magnitude(0.018, 0.045) * (1.0 - load(&system));
            let traffic = Traffic::to(system).fault(Scope::EachAlone, at_random(part, length), Effect::Pause);
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
    Family {
        name: "slow-moments",
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { utilisation: (0.05, 0.25), balancing: BLIND, ..OPEN }.draw(draw, pace)?;
            // As slow as this, an instance can nearly keep up.
            let factor = draw.magnitude(5.0, 12.0).max(1.2 / load(&system));
            let length = (service(&system) * draw.magnitude(40.0, 200.0)).clamp(0.1, 1.0);
            let when = at_random(draw.magnitude(0.018, 0.04), length);
            let traffic = Traffic::to(system).fault(Scope::EachAlone, when, Effect::Slower(factor));
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
    Family {
        name: "regular-pauses-of-each",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = OPEN.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(10.0, 60.0)).clamp(0.02, 0.5);
            let part = draw.magnitude(0.018, 0.045) * (1.0 - load(&system));
            let traffic = Traffic::to(system).fault(Scope::EachAlone, regularly(part, length), Effect::Pause);
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
    // Short ones that come often, and now and then a long one.
    Family {
        name: "pauses-of-two-lengths",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = OPEN.draw(draw, pace)?;
            let short = (service(&system) * draw.magnitude(6.0, 15.0)).clamp(0.015, 0.2);
            let long = short * draw.between(4.0, 10.0);
            let free = 1.0 - load(&system);
            let often = at_random(draw.magnitude(0.012, 0.03) * free, short);
            let seldom = at_random(draw.magnitude(0.004, 0.012) * free, long);
            let traffic = Traffic::to(system).fault(Scope::EachAlone, often, Effect::Pause).fault(
                Scope::EachAlone,
                seldom,
                Effect::Pause,
            );
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
];
