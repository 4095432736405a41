//! Single executions are slow, in other shapes and at other rates.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Part, Scope, ServiceTime, Shape, System, When},
};

use super::INDEPENDENT;
use crate::{
    case::{Family, Traffic},
    draw::Draw,
    families::parts::{equal_classes, service, slow_executions},
    pace::Pace,
    plan::{ALL, Arriving, BLIND, Plan},
    units,
};

const PLAN: Plan = Plan {
    instances: (4, 25),
    rate: (80.0, 1_200.0),
    utilisation: (0.08, 0.4),
    service: (0.002, 0.04),
    balancing: ALL,
    arriving: &[Arriving::Alone, Arriving::InBursts],
};

/// The system with service times of the same mean, of which ever fewer are ever longer: nearly a power law.
fn power_law(draw: &mut Draw, system: &System) -> anyhow::Result<System> {
    let (share, fewer) = (draw.magnitude(0.02, 0.035), draw.between(2.2, 3.2));
    let (factor, longer) = (draw.between(4.5, 7.0), draw.between(1.9, 2.5));
    let sigma = draw.between(0.15, 0.3);
    let tail: Vec<_> = (0..4).map(|step| (share / fewer.powi(step), factor * longer.powi(step))).collect();
    let rest = 1.0 - tail.iter().map(|(share, _)| share).sum::<f64>();
    let sum = rest + tail.iter().map(|(share, factor)| share * factor).sum::<f64>();
    let usual = service(system) / sum / (sigma * sigma / 2.0).exp();
    let part = |(share, factor): (f64, f64)| Part {
        share: units::share(share),
        shift: units::seconds(0.0),
        shape: Shape::LogNormal { median: units::seconds(usual * factor), sigma },
    };
    let parts = [(rest, 1.0)].into_iter().chain(tail).map(part).collect();
    Ok(System { service: ServiceTime::mixture(parts)?, ..system.clone() })
}

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "power-law",
        draw: |draw| {
            let system = PLAN.draw(draw, Pace::Constant)?;
            let system = power_law(draw, &system)?;
            Ok(Traffic::to(system).classes(equal_classes(draw)))
        },
        ..INDEPENDENT
    },
    Family {
        name: "power-law-at-low-rates-unnamed",
        causes: &[Cause::IndependentOrRequest, Cause::Independent],
        actions: &[Action::Canary, Action::Hedge],
        draw: |draw| {
            let plan = Plan { instances: (2, 6), rate: (30.0, 60.0), utilisation: (0.03, 0.2), ..PLAN };
            let system = plan.draw(draw, Pace::Constant)?;
            Ok(Traffic::to(power_law(draw, &system)?))
        },
        ..INDEPENDENT
    },
    Family {
        name: "executions-at-high-rates",
        draw: |draw| {
            let pace = slow_executions(draw);
            let plan = Plan { instances: (12, 60), rate: (2_000.0, 4_000.0), service: (0.001, 0.01), ..PLAN };
            Ok(Traffic::to(plan.draw(draw, pace)?).classes(equal_classes(draw)))
        },
        ..INDEPENDENT
    },
    // No two instances are of the same age.
    Family {
        name: "executions-on-uneven-instances",
        causes: &[Cause::Independent, Cause::Mixed],
        draw: |draw| {
            let pace = slow_executions(draw);
            let system = Plan { utilisation: (0.05, 0.3), ..PLAN }.draw(draw, pace)?;
            let mut traffic = Traffic::to(system).classes(equal_classes(draw));
            let instances = traffic.system.instances.get();
            traffic.conditions.speeds = (0..instances).map(|_| draw.magnitude(0.65, 1.4)).collect();
            Ok(traffic)
        },
        ..INDEPENDENT
    },
    // Something is looked up elsewhere now and then, which takes any time.
    Family {
        name: "lookups-of-any-length",
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { utilisation: (0.05, 0.3), balancing: BLIND, ..PLAN };
            let system = plan.draw(draw, pace)?;
            let mean = service(&system) * draw.magnitude(8.0, 25.0);
            let time = Pace::LogNormal(draw.between(0.5, 0.9)).of_mean(mean)?;
            let share = units::share(draw.magnitude(0.015, 0.04));
            let effect = Effect::Dependency { share, time, by_request: false };
            Ok(Traffic::to(system).classes(equal_classes(draw)).fault(Scope::All, When::Always, effect))
        },
        ..INDEPENDENT
    },
];
