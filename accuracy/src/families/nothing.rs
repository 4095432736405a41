//! Nothing is to be done, or nothing can be said.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope},
};

use super::parts::{at_random, mostly_named, once, slow_executions};
use crate::{
    case::{Check, Family, Half, Hedging, Traffic},
    pace::Pace,
    plan::{Arriving, Plan, bursts},
};

const NOTHING: Family = Family {
    causes: &[Cause::NoTail],
    actions: &[Action::None],
    hedging: Hedging::Possible,
    check: Check::NoTail,
    ..Family::PATTERN
};

const LITTLE: Family =
    Family { causes: &[Cause::Insufficient], actions: &[Action::Wait], check: Check::Anything, ..NOTHING };

const CALM: Plan = Plan {
    instances: (2, 30),
    rate: (50.0, 2_000.0),
    utilisation: (0.05, 0.4),
    service: (0.001, 0.05),
    balancing: crate::plan::ALL,
    arriving: &[Arriving::Alone, Arriving::InBursts, Arriving::AfterAnswers],
};

/// Less than what a p99 needs.
const FEW: Plan = Plan { instances: (2, 6), rate: (0.8, 4.0), arriving: &[Arriving::Alone], ..CALM };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "no-tail",
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = CALM.draw(draw, pace)?;
            Ok(mostly_named(draw, Traffic::to(system)))
        },
        ..NOTHING
    },
    // Much more is asked for at times, and answered as fast as ever.
    Family {
        name: "peak-without-saturation",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let mut system = Plan { utilisation: (0.05, 0.15), ..CALM }.draw(draw, pace)?;
            if let Some(rate) = system.arrivals.rate() {
                let length = draw.magnitude(1.0, 12.0);
                let factor = draw.between(2.0, 4.5);
                system.arrivals = bursts(rate.as_per_second(), factor, draw.between(0.08, 0.2), length)?;
            }
            Ok(mostly_named(draw, Traffic::to(system)))
        },
        ..NOTHING
    },
    // Everything becomes a little slower, once or bit by bit.
    Family {
        name: "drift-alone",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = CALM.draw(draw, pace)?;
            let mut traffic = Traffic::to(system);
            let steps = draw.whole(1..=6);
            let factor = draw.between(1.1, 1.5).powf(1.0 / f64::from(steps));
            for number in 1..=steps {
                let when = once(f64::from(number) / f64::from(steps + 1), 1.0);
                traffic = traffic.fault(Scope::All, when, Effect::Slower(factor));
            }
            Ok(mostly_named(draw, traffic))
        },
        ..NOTHING
    },
    Family {
        name: "too-few-requests",
        draw: |draw| {
            let pace = slow_executions(draw);
            let system = FEW.draw(draw, pace)?;
            Ok(mostly_named(draw, Traffic::to(system)))
        },
        ..LITTLE
    },
    Family {
        name: "too-few-and-stalls",
        half: Half::Tuning,
        causes: &[Cause::Insufficient, Cause::Shared],
        actions: &[Action::Wait, Action::DoNotHedge],
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = FEW.draw(draw, pace)?;
            let when = at_random(draw.between(0.02, 0.08), draw.between(0.5, 1.5));
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, Effect::Pause)))
        },
        ..LITTLE
    },
];
