//! Single executions are slow, whoever asks for them and wherever they run.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Part, Scope, ServiceTime, Shape, When},
};

use super::parts::{equal_classes, service, slow_executions};
use crate::{
    case::{Family, Half, Traffic},
    pace::Pace,
    plan::{Arriving, Plan},
    units,
};

/// With names, requests that cost more can be ruled out.
const NAMED: Family = Family { actions: &[Action::Hedge], ..Family::PATTERN };

/// Without, they cannot.
const UNNAMED: Family = Family {
    causes: &[Cause::IndependentOrRequest, Cause::Independent],
    actions: &[Action::Canary, Action::Hedge],
    ..NAMED
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "slow-executions",
        draw: |draw| {
            let pace = slow_executions(draw);
            Ok(Traffic::to(Plan::default().draw(draw, pace)?).classes(equal_classes(draw)))
        },
        ..NAMED
    },
    Family {
        name: "slow-executions-unnamed",
        draw: |draw| {
            let pace = slow_executions(draw);
            Ok(Traffic::to(Plan { utilisation: (0.05, 0.5), ..Plan::default() }.draw(draw, pace)?))
        },
        ..UNNAMED
    },
    Family {
        name: "heavy-tail",
        draw: |draw| {
            let pace = Pace::LogNormal(draw.between(0.75, 1.05));
            Ok(Traffic::to(Plan::default().draw(draw, pace)?).classes(equal_classes(draw)))
        },
        ..NAMED
    },
    Family {
        name: "exponential-unnamed",
        draw: |draw| Ok(Traffic::to(Plan::default().draw(draw, Pace::Exponential)?)),
        ..UNNAMED
    },
    Family {
        name: "heavier-tail-unnamed",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::LogNormal(draw.between(0.95, 1.25));
            Ok(Traffic::to(Plan { instances: (2, 30), ..Plan::default() }.draw(draw, pace)?))
        },
        ..UNNAMED
    },
    Family {
        name: "exponential-in-bursts",
        half: Half::Tuning,
        draw: |draw| {
            let plan = Plan { arriving: &[Arriving::InBursts, Arriving::AfterAnswers], ..Plan::default() };
            Ok(Traffic::to(plan.draw(draw, Pace::Exponential)?).classes(equal_classes(draw)))
        },
        ..NAMED
    },
    // What a lookup that is asked again after its timeout looks like.
    Family {
        name: "timeouts-within",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { utilisation: (0.1, 0.45), ..Plan::default() }.draw(draw, pace)?;
            let longest = units::seconds(service(&system) * draw.magnitude(5.0, 30.0));
            let time = ServiceTime::only(Shape::Constant(longest))?;
            let share = units::share(draw.magnitude(0.013, 0.035));
            let effect = Effect::Dependency { share, time, by_request: false };
            Ok(Traffic::to(system).classes(equal_classes(draw)).fault(Scope::All, When::Always, effect))
        },
        ..NAMED
    },
    // Where most work is quick because its result is kept, and the rest comes from several places.
    Family {
        name: "misses-of-two-caches",
        half: Half::Tuning,
        draw: |draw| {
            let (near, far) = (draw.between(0.05, 0.3), draw.magnitude(0.012, 0.03));
            let mut system = Plan::default().draw(draw, Pace::Constant)?;
            let mean = service(&system);
            let [near_factor, far_factor] = [draw.between(1.5, 2.2), draw.magnitude(8.0, 30.0)];
            let hit = mean / (1.0 - near - far + near * near_factor + far * far_factor);
            let part = |share: f64, factor: f64| Part {
                share: units::share(share),
                shift: units::seconds(hit * factor * 0.7),
                shape: Shape::Exponential { mean: units::seconds(hit * factor * 0.3) },
            };
            system.service = ServiceTime::mixture(vec![
                part(1.0 - near - far, 1.0),
                part(near, near_factor),
                part(far, far_factor),
            ])?;
            Ok(Traffic::to(system).classes(equal_classes(draw)))
        },
        ..NAMED
    },
];
