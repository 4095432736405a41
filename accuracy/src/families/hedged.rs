//! The client sends second copies already.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Budget, Cancellation, Effect, Hedge, Policy, Scope, Share, System, Tactic},
};
use observer_common::Nanoseconds;

use super::parts::{at_random, equal_classes, service, slow_executions};
use crate::{
    case::{Check, Family, Half, Hedging, Traffic},
    draw::Draw,
    pace::Pace,
    plan::Plan,
    units,
};

const INDEPENDENT: Family = Family::PATTERN;

const SHARED: Family = Family {
    causes: &[Cause::Shared],
    actions: &[Action::DoNotHedge],
    hedging: Hedging::Forbidden,
    check: Check::TailByFault,
    ..INDEPENDENT
};

const PLAN: Plan = Plan {
    instances: (3, 20),
    rate: (100.0, 1_500.0),
    utilisation: (0.1, 0.4),
    service: (0.001, 0.03),
    balancing: crate::plan::ALL,
    arriving: &[crate::plan::Arriving::Alone],
};

/// A copy of what takes longer than about nineteen in twenty, or than most, within a budget; what nobody waits for any
/// more is given up, or not.
fn hedging(draw: &mut Draw, system: &System) -> Policy {
    let quantile = units::share(draw.between(0.9, 0.96));
    let delay = system.service.quantile(quantile).0 as f64 * draw.between(1.0, 1.5) / 1e9;
    let budget = Budget { share: Share::percent(draw.one_of(&[3, 5, 10])), burst: units::whole(100.0) };
    let hedge = Hedge { budget: Some(budget), ..Hedge::after(units::seconds(delay)) };
    let cancellation =
        if draw.chance(0.5) { Cancellation::After(Nanoseconds(200_000)) } else { Cancellation::Never };
    Policy { cancellation, ..Policy::of(Tactic::Hedge(hedge)) }
}

fn stalls(draw: &mut Draw, system: System) -> Traffic {
    let length = (service(&system) * draw.magnitude(10.0, 50.0)).clamp(0.05, 0.6);
    let when = at_random(draw.magnitude(0.02, 0.1), length);
    Traffic::to(system).fault(Scope::All, when, Effect::Pause)
}

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "hedged-executions",
        draw: |draw| {
            let pace = slow_executions(draw);
            let system = PLAN.draw(draw, pace)?;
            let policy = hedging(draw, &system);
            Ok(Traffic::to(system).classes(equal_classes(draw)).hedged(policy, true))
        },
        ..INDEPENDENT
    },
    Family {
        name: "hedged-stalls-unmarked",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = PLAN.draw(draw, pace)?;
            let policy = hedging(draw, &system);
            Ok(stalls(draw, system).classes(equal_classes(draw)).hedged(policy, false))
        },
        ..SHARED
    },
    Family {
        name: "hedged-executions-unmarked",
        half: Half::Tuning,
        causes: &[Cause::Independent, Cause::IndependentOrRequest],
        draw: |draw| {
            let pace = slow_executions(draw);
            let system = PLAN.draw(draw, pace)?;
            let policy = hedging(draw, &system);
            let traffic = Traffic::to(system).hedged(policy, false);
            Ok(if draw.chance(0.7) { traffic.classes(equal_classes(draw)) } else { traffic })
        },
        ..INDEPENDENT
    },
    Family {
        name: "hedged-stalls",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = PLAN.draw(draw, pace)?;
            let policy = hedging(draw, &system);
            Ok(stalls(draw, system).hedged(policy, true))
        },
        ..SHARED
    },
    // Two copies of one request are the evidence that nothing else gives.
    Family {
        name: "hedged-hidden-costs",
        half: Half::Tuning,
        causes: &[Cause::Request, Cause::IndependentOrRequest],
        actions: &[Action::DoNotHedge, Action::Canary],
        check: Check::Tail,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = super::request::ROOM.draw(draw, pace)?;
            let (policy, cost) = (hedging(draw, &system), super::request::hidden(draw));
            Ok(Traffic::to(system).hidden_cost(cost).hedged(policy, true))
        },
        ..SHARED
    },
];
