//! Some requests cost more than others, wherever they are served.

use observer::{
    analysis::model::{Action, Cause},
    simulation::HiddenCost,
};

use super::parts::{costly_classes, equal_classes};
use crate::{
    case::{Family, Half, Hedging, Traffic},
    draw::Draw,
    pace::Pace,
    plan::Plan,
    units,
};

pub(super) const PATTERN: Family = Family {
    causes: &[Cause::Request],
    actions: &[Action::DoNotHedge],
    hedging: Hedging::Forbidden,
    ..Family::PATTERN
};

/// Costs make the load higher than this.
pub(super) const ROOM: Plan = Plan {
    instances: (2, 30),
    rate: (80.0, 1_500.0),
    utilisation: (0.05, 0.25),
    service: (0.001, 0.03),
    balancing: crate::plan::ALL,
    arriving: &[crate::plan::Arriving::Alone, crate::plan::Arriving::Alone, crate::plan::Arriving::InBursts],
};

/// Few requests cost many times as much, and together no more than as much again as all.
pub(super) fn hidden(draw: &mut Draw) -> HiddenCost {
    let factor = draw.magnitude(6.0, 30.0);
    HiddenCost { share: units::share(draw.magnitude(0.013, 0.04)), factor }
}

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "costly-class",
        draw: |draw| {
            let pace = Pace::any(draw);
            let system = ROOM.draw(draw, pace)?;
            let costly = [(draw.magnitude(0.015, 0.06), draw.magnitude(6.0, 25.0))];
            Ok(Traffic::to(system).classes(costly_classes(draw, &costly)))
        },
        ..PATTERN
    },
    // Several kinds, each a little or much more than the one before.
    Family {
        name: "costly-classes",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = ROOM.draw(draw, pace)?;
            let costly = [
                (draw.magnitude(0.03, 0.15), draw.between(1.5, 2.2)),
                (draw.magnitude(0.01, 0.03), draw.magnitude(5.0, 12.0)),
                (draw.magnitude(0.005, 0.02), draw.magnitude(10.0, 30.0)),
            ];
            Ok(Traffic::to(system).classes(costly_classes(draw, &costly)))
        },
        ..PATTERN
    },
    // The costly kind has a wide spread of its own, and is asked for in bursts.
    Family {
        name: "costly-class-with-spread",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::LogNormal(draw.between(0.4, 0.65));
            let plan = Plan { arriving: &[crate::plan::Arriving::InBursts], ..ROOM };
            let system = plan.draw(draw, pace)?;
            let costly = [(draw.magnitude(0.03, 0.09), draw.magnitude(10.0, 25.0))];
            Ok(Traffic::to(system).classes(costly_classes(draw, &costly)))
        },
        ..PATTERN
    },
    Family {
        name: "hidden-costs-unnamed",
        causes: &[Cause::IndependentOrRequest, Cause::Request],
        actions: &[Action::Canary, Action::DoNotHedge],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = ROOM.draw(draw, pace)?;
            let cost = hidden(draw);
            Ok(Traffic::to(system).hidden_cost(cost))
        },
        ..PATTERN
    },
    // The names are those of the requests, and not of what makes them cost more: from outside nothing tells this from
    // slow executions. So only what is measured counts as harm.
    Family {
        name: "hidden-costs-under-names",
        half: Half::Tuning,
        causes: &[Cause::Request, Cause::IndependentOrRequest, Cause::Independent],
        actions: &[Action::Canary, Action::DoNotHedge, Action::Hedge],
        hedging: Hedging::Possible,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = ROOM.draw(draw, pace)?;
            let cost = hidden(draw);
            Ok(Traffic::to(system).classes(equal_classes(draw)).hidden_cost(cost))
        },
        ..PATTERN
    },
    Family {
        name: "spread-of-costs-unnamed",
        half: Half::Tuning,
        causes: &[Cause::IndependentOrRequest, Cause::Request],
        actions: &[Action::Canary, Action::DoNotHedge],
        draw: |draw| {
            let pace = Pace::LogNormal(draw.between(0.3, 0.5));
            let system = ROOM.draw(draw, pace)?;
            let costly = [
                (draw.magnitude(0.02, 0.04), draw.magnitude(6.0, 12.0)),
                (draw.magnitude(0.006, 0.015), draw.magnitude(15.0, 40.0)),
            ];
            let mut traffic = Traffic::to(system).classes(costly_classes(draw, &costly));
            traffic.shows_classes = false;
            Ok(traffic)
        },
        ..PATTERN
    },
];
