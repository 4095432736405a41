//! Clients that read late, for short and for long times.

use observer::{
    analysis::model::Cause,
    simulation::{Effect, Scope},
};

use super::SHARED;
use crate::{
    case::{Family, Traffic},
    families::parts::{at_random, mostly_named, once, regularly, service},
    pace::Pace,
    plan::Plan,
};

const LATE: Family = Family { causes: &[Cause::Caller], ..SHARED };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "short-late-reads",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { rate: (300.0, 2_000.0), service: (0.001, 0.006), ..Plan::default() };
            let system = plan.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(6.0, 12.0)).clamp(0.01, 0.06);
            let part = draw.magnitude(0.03, 0.1);
            let when = if draw.chance(0.5) { regularly(part, length) } else { at_random(part, length) };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, Effect::LateReader)))
        },
        ..LATE
    },
    Family {
        name: "three-long-late-reads",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = Plan { instances: (2, 12), rate: (60.0, 1_000.0), ..Plan::default() };
            let mut traffic = Traffic::to(system.draw(draw, pace)?);
            for third in [0.05, 0.35, 0.65] {
                let from = third + draw.between(0.0, 0.2);
                let when = once(from, from + draw.between(0.008, 0.03));
                traffic = traffic.fault(Scope::All, when, Effect::LateReader);
            }
            Ok(mostly_named(draw, traffic))
        },
        ..LATE
    },
];
