//! Restarts, deployments, and a store that becomes slower bit by bit.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope},
};

use super::INDEPENDENT;
use crate::{
    case::{Check, Family, Traffic},
    families::parts::{equal_classes, once, slow_executions},
    pace::Pace,
    plan::{ALL, Arriving, BLIND, Plan},
};

const CALM: Plan = Plan {
    instances: (5, 20),
    rate: (100.0, 1_200.0),
    utilisation: (0.05, 0.2),
    service: (0.001, 0.02),
    balancing: ALL,
    arriving: &[Arriving::Alone],
};

pub(super) const FAMILIES: &[Family] = &[
    // Each stops for a moment and is slow afterwards, one after the other, once.
    Family {
        name: "rolling-restart",
        causes: &[Cause::Independent, Cause::Instance, Cause::Mixed],
        actions: &[Action::Hedge, Action::Canary, Action::Eject],
        check: Check::TailByFault,
        draw: |draw| {
            let pace = Pace::even(draw);
            let system = Plan { instances: (5, 12), balancing: BLIND, ..CALM }.draw(draw, pace)?;
            let instances = system.instances.get();
            let (step, stop) = (0.8 / f64::from(instances), draw.between(0.3, 1.0) / 60.0);
            let cold = draw.between(0.1, 0.3) * step;
            let slower = draw.magnitude(3.0, 6.0);
            let mut traffic = Traffic::to(system).classes(equal_classes(draw));
            for number in 0..instances {
                let from = 0.1 + f64::from(number) * step;
                let (stopped, started) = (once(from, from + stop), once(from + stop, from + stop + cold));
                traffic = traffic.fault(Scope::One(number), stopped, Effect::Pause).fault(
                    Scope::One(number),
                    started,
                    Effect::Slower(slower),
                );
            }
            Ok(traffic)
        },
        ..INDEPENDENT
    },
    // One instance after the other gets the new version, which is a little slower, or faster.
    Family {
        name: "gradual-deployment-and-executions",
        draw: |draw| {
            let pace = slow_executions(draw);
            let system = CALM.draw(draw, pace)?;
            let instances = system.instances.get();
            let factor = if draw.chance(0.5) { draw.between(0.6, 0.85) } else { draw.between(1.2, 1.6) };
            let mut traffic = Traffic::to(system).classes(equal_classes(draw));
            for number in 0..instances {
                let from = 0.15 + 0.6 * f64::from(number) / f64::from(instances);
                traffic = traffic.fault(Scope::One(number), once(from, 1.0), Effect::Slower(factor));
            }
            Ok(traffic)
        },
        ..INDEPENDENT
    },
];
