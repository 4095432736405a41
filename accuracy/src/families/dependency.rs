//! Some requests wait for something that all instances share, at times when it is slow.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope, ServiceTime, System},
};

use super::{
    parts::{at_random, mostly_named, regularly, service},
    shared::{BEHIND, PATTERN},
};
use crate::{
    case::{Family, Half, Hedging, Traffic},
    draw::Draw,
    pace::Pace,
    plan::Plan,
    units,
};

/// With room for what waits: slots are kept meanwhile.
const ROOMY: Plan = Plan { utilisation: (0.02, 0.15), ..BEHIND };

/// How long is waited: long beside what serving takes.
fn wait(draw: &mut Draw, system: &System) -> anyhow::Result<ServiceTime> {
    let mean = service(system) * draw.magnitude(8.0, 30.0);
    let pace = if draw.chance(0.3) { Pace::Exponential } else { Pace::even(draw) };
    pace.of_mean(mean.min(0.3))
}

/// How long the store is slow each time, in seconds: long beside what is waited, so that a copy finds it slow too.
fn episode(draw: &mut Draw, wait: &ServiceTime) -> f64 {
    wait.mean_seconds() * draw.magnitude(5.0, 20.0) + 0.2
}

pub(super) const FAMILIES: &[Family] = &[
    // All executions of the time wait.
    Family {
        name: "slow-store",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = ROOMY.draw(draw, pace)?;
            let time = wait(draw, &system)?;
            let part = draw.magnitude(0.02, 0.12);
            let when = at_random(part, episode(draw, &time));
            let effect = Effect::Dependency { share: units::share(1.0), time, by_request: false };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..PATTERN
    },
    // Some do, and a second execution may be spared: a copy does help, as far as that goes.
    Family {
        name: "store-for-some-executions",
        causes: &[Cause::Shared, Cause::Mixed],
        actions: &[Action::DoNotHedge, Action::Canary, Action::Hedge],
        hedging: Hedging::Possible,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = ROOMY.draw(draw, pace)?;
            let time = wait(draw, &system)?;
            let share = draw.between(0.3, 0.7);
            let part = draw.magnitude(0.02, 0.1) / share;
            let when = at_random(part, episode(draw, &time));
            let effect = Effect::Dependency { share: units::share(share), time, by_request: false };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..PATTERN
    },
    // Some requests do, wherever they are served.
    Family {
        name: "store-for-some-requests",
        causes: &[Cause::Shared, Cause::Request, Cause::Mixed],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = ROOMY.draw(draw, pace)?;
            let time = wait(draw, &system)?;
            let share = draw.between(0.35, 0.7);
            let part = draw.magnitude(0.02, 0.1) / share;
            let when = at_random(part, episode(draw, &time));
            let effect = Effect::Dependency { share: units::share(share), time, by_request: true };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..PATTERN
    },
    Family {
        name: "store-for-few-requests",
        half: Half::Tuning,
        causes: &[Cause::Shared, Cause::Request, Cause::Mixed, Cause::IndependentOrRequest],
        actions: &[Action::DoNotHedge, Action::Canary],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { rate: (200.0, 2_000.0), ..ROOMY }.draw(draw, pace)?;
            let time = wait(draw, &system)?;
            let share = draw.between(0.2, 0.35);
            let part = draw.magnitude(0.02, 0.06) / share;
            let when = regularly(part, episode(draw, &time));
            let effect = Effect::Dependency { share: units::share(share), time, by_request: true };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..PATTERN
    },
    // Everything takes longer for good part of the time, and some of it much longer.
    Family {
        name: "slow-store-regularly",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = ROOMY.draw(draw, pace)?;
            let time = wait(draw, &system)?;
            let part = draw.magnitude(0.03, 0.2);
            let when = regularly(part, episode(draw, &time));
            let effect = Effect::Dependency { share: units::share(0.95), time, by_request: true };
            Ok(mostly_named(draw, Traffic::to(system).fault(Scope::All, when, effect)))
        },
        ..PATTERN
    },
];
