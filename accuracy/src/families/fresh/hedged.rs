//! The client sends second copies already, of other kinds of traffic.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Budget, Cancellation, Effect, Hedge, Policy, Scope, Share, System, Tactic},
};
use observer_common::Nanoseconds;

use super::{PAUSES, SHARED};
use crate::{
    case::{Family, Traffic},
    draw::Draw,
    families::parts::{at_random, equal_classes, load, mostly_named, service},
    pace::Pace,
    plan::{ALL, Arriving, Plan},
    units,
};

const PLAN: Plan = Plan {
    instances: (4, 20),
    rate: (150.0, 1_500.0),
    utilisation: (0.06, 0.3),
    service: (0.001, 0.02),
    balancing: ALL,
    arriving: &[Arriving::Alone, Arriving::InBursts],
};

/// A copy of what takes several times as long as usual.
fn hedging(draw: &mut Draw, system: &System) -> Policy {
    let delay = service(system) * draw.between(1.5, 4.0);
    let budget = Budget { share: Share::percent(draw.one_of(&[2, 5, 8])), burst: units::whole(50.0) };
    let hedge = Hedge { budget: Some(budget), ..Hedge::after(units::seconds(delay)) };
    let cancellation =
        if draw.chance(0.5) { Cancellation::After(Nanoseconds(300_000)) } else { Cancellation::Never };
    Policy { cancellation, ..Policy::of(Tactic::Hedge(hedge)) }
}

fn pauses(draw: &mut Draw) -> anyhow::Result<Traffic> {
    let pace = Pace::even(draw);
    let system = PLAN.draw(draw, pace)?;
    let length = (service(&system) * draw.magnitude(10.0, 40.0)).clamp(0.03, 0.4);
    let part = draw.magnitude(0.018, 0.04) * (1.0 - load(&system));
    Ok(Traffic::to(system).fault(Scope::EachAlone, at_random(part, length), Effect::Pause))
}

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "hedged-pauses",
        draw: |draw| {
            let traffic = pauses(draw)?;
            let policy = hedging(draw, &traffic.system);
            Ok(mostly_named(draw, traffic).hedged(policy, true))
        },
        ..PAUSES
    },
    Family {
        name: "hedged-pauses-unmarked",
        draw: |draw| {
            let traffic = pauses(draw)?;
            let policy = hedging(draw, &traffic.system);
            Ok(mostly_named(draw, traffic).hedged(policy, false))
        },
        ..PAUSES
    },
    Family {
        name: "hedged-store-unmarked",
        causes: &[Cause::Shared, Cause::Mixed],
        actions: &[Action::DoNotHedge],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { utilisation: (0.03, 0.12), ..PLAN }.draw(draw, pace)?;
            let mean = (service(&system) * draw.magnitude(8.0, 25.0)).min(0.25);
            let time = Pace::even(draw).of_mean(mean)?;
            let when = at_random(draw.magnitude(0.03, 0.1), mean * draw.magnitude(5.0, 15.0) + 0.3);
            let effect = Effect::Dependency { share: units::share(1.0), time, by_request: true };
            let policy = hedging(draw, &system);
            let traffic = Traffic::to(system).classes(equal_classes(draw));
            Ok(traffic.fault(Scope::All, when, effect).hedged(policy, false))
        },
        ..SHARED
    },
];
