//! Nothing is slow, or nothing can be said.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Part, Rate, Scope, ServiceTime, Shape, When},
};

use super::INDEPENDENT;
use crate::{
    case::{Check, Family, Hedging, Traffic},
    families::parts::{at_random, load, mostly_named, once, service},
    pace::Pace,
    plan::{ALL, Arriving, Plan},
    units,
};

const NOTHING: Family = Family {
    causes: &[Cause::NoTail],
    actions: &[Action::None],
    hedging: Hedging::Possible,
    check: Check::NoTail,
    ..INDEPENDENT
};

const CALM: Plan = Plan {
    instances: (2, 20),
    rate: (60.0, 1_500.0),
    utilisation: (0.05, 0.3),
    service: (0.001, 0.04),
    balancing: ALL,
    arriving: &[Arriving::Alone, Arriving::AfterAnswers],
};

pub(super) const FAMILIES: &[Family] = &[
    // Half of the work, more or less, is done in one way, and the rest in a slower one.
    Family {
        name: "no-tail-of-two-modes",
        draw: |draw| {
            let mut system = CALM.draw(draw, Pace::Constant)?;
            let (slower, more) = (draw.between(0.25, 0.7), draw.between(1.35, 1.8));
            let usual = service(&system) / (1.0 - slower + slower * more);
            let part = |share: f64, factor: f64, sigma: f64| Part {
                share: units::share(share),
                shift: units::seconds(usual * factor * 0.5),
                shape: Shape::LogNormal { median: units::seconds(usual * factor * 0.5), sigma },
            };
            let sigma = draw.between(0.02, 0.12);
            let parts = vec![part(1.0 - slower, 1.0, sigma), part(slower, more, sigma)];
            system.service = ServiceTime::mixture(parts)?;
            Ok(mostly_named(draw, Traffic::to(system)))
        },
        ..NOTHING
    },
    // Other clients ask for much more, and there is room for it.
    Family {
        name: "peak-of-others-without-saturation",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { utilisation: (0.05, 0.2), instances: (4, 20), ..CALM };
            let system = plan.draw(draw, pace)?;
            let capacity = system.capacity().map_or(1.0, Rate::as_per_second);
            let rate = units::rate(capacity * (draw.between(0.25, 0.4) - load(&system)).max(0.05))?;
            let from = draw.between(0.1, 0.6);
            let when = once(from, from + draw.between(0.1, 0.35));
            Ok(mostly_named(draw, Traffic::to(system).others(when, rate)))
        },
        ..NOTHING
    },
    Family {
        name: "too-few-and-loss",
        causes: &[Cause::Insufficient, Cause::Network],
        actions: &[Action::Wait, Action::DoNotHedge, Action::Canary],
        check: Check::Anything,
        draw: |draw| {
            let pace = Pace::any(draw);
            let plan = Plan { instances: (2, 4), rate: (0.6, 3.0), arriving: &[Arriving::Alone], ..CALM };
            let system = plan.draw(draw, pace)?;
            let timeout = units::seconds(draw.between(0.2, 0.4));
            let effect = Effect::Loss { share: units::share(draw.magnitude(0.02, 0.06)), timeout };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, When::Always, effect)))
        },
        ..NOTHING
    },
    Family {
        name: "too-few-and-pauses",
        causes: &[Cause::Insufficient],
        actions: &[Action::Wait],
        check: Check::Anything,
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { instances: (3, 8), rate: (1.0, 4.0), arriving: &[Arriving::Alone], ..CALM };
            let system = plan.draw(draw, pace)?;
            let when = at_random(draw.between(0.02, 0.05), draw.between(0.3, 1.0));
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::EachAlone, when, Effect::Pause)))
        },
        ..NOTHING
    },
];
