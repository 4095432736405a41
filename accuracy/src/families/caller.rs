//! Answers are there, and the client reads them late.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope},
};

use super::parts::{at_random, mostly_named, regularly, service};
use crate::{
    case::{Check, Family, Half, Hedging, Traffic},
    pace::Pace,
    plan::Plan,
};

const PATTERN: Family = Family {
    causes: &[Cause::Caller],
    actions: &[Action::DoNotHedge],
    hedging: Hedging::Forbidden,
    check: Check::TailByFault,
    ..Family::PATTERN
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "late-reader",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = Plan { instances: (2, 30), ..Plan::default() }.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(8.0, 40.0)).clamp(0.03, 0.6);
            let when = at_random(draw.magnitude(0.025, 0.12), length);
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, Effect::LateReader)))
        },
        ..PATTERN
    },
    // A client that collects its garbage, and has a tail behind it that is none of its making.
    Family {
        name: "regularly-late-reader",
        half: Half::Tuning,
        causes: &[Cause::Caller, Cause::Mixed],
        draw: |draw| {
            let pace =
                if draw.chance(0.5) { Pace::LogNormal(draw.between(0.5, 0.8)) } else { Pace::Exponential };
            let system =
                Plan { instances: (2, 30), utilisation: (0.1, 0.7), ..Plan::default() }.draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(15.0, 50.0)).clamp(0.05, 0.8);
            let when = regularly(draw.magnitude(0.03, 0.12), length);
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, Effect::LateReader)))
        },
        ..PATTERN
    },
];
