//! Costly requests, with other costs and other company.

use observer::{
    analysis::model::{Action, Cause},
    simulation::HiddenCost,
};

use super::SHARED;
use crate::{
    case::{Check, Family, Traffic},
    families::parts::costly_classes,
    pace::Pace,
    plan::{ALL, Arriving, Plan},
    units,
};

const COSTLY: Family = Family { causes: &[Cause::Request], check: Check::Tail, ..SHARED };

const ROOM: Plan = Plan {
    instances: (3, 20),
    rate: (100.0, 1_200.0),
    utilisation: (0.04, 0.2),
    service: (0.001, 0.02),
    balancing: ALL,
    arriving: &[Arriving::Alone, Arriving::AfterAnswers],
};

pub(super) const FAMILIES: &[Family] = &[
    // Each of up to four kinds costs what it likes.
    Family {
        name: "up-to-four-costly-classes",
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = ROOM.draw(draw, pace)?;
            let costly: Vec<_> = (0..draw.whole(2..=4))
                .map(|_| (draw.magnitude(0.007, 0.025), draw.magnitude(4.0, 40.0)))
                .collect();
            Ok(Traffic::to(system).classes(costly_classes(draw, &costly)))
        },
        ..COSTLY
    },
    Family {
        name: "costly-class-at-low-rates",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { instances: (2, 6), rate: (30.0, 60.0), service: (0.002, 0.05), ..ROOM };
            let system = plan.draw(draw, pace)?;
            let costly = [(draw.magnitude(0.025, 0.06), draw.magnitude(5.0, 20.0))];
            Ok(Traffic::to(system).classes(costly_classes(draw, &costly)))
        },
        ..COSTLY
    },
    // Two things make requests cost more, and nothing shows either.
    Family {
        name: "two-hidden-costs-unnamed",
        causes: &[Cause::IndependentOrRequest, Cause::Request],
        actions: &[Action::Canary, Action::DoNotHedge],
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = ROOM.draw(draw, pace)?;
            let costly = [(draw.magnitude(0.01, 0.025), draw.magnitude(6.0, 15.0))];
            let hidden = HiddenCost {
                share: units::share(draw.magnitude(0.006, 0.02)),
                factor: draw.magnitude(10.0, 40.0),
            };
            let mut traffic = Traffic::to(system).classes(costly_classes(draw, &costly)).hidden_cost(hidden);
            traffic.shows_classes = false;
            Ok(traffic)
        },
        ..COSTLY
    },
];
