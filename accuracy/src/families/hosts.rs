//! Hosts with several instances, and instances that are restarted one after the other.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope},
};

use super::parts::{at_random, load, mostly_named, regularly, service};
use crate::{
    case::{Check, Family, Half, Traffic},
    pace::Pace,
    plan::{ALL, Arriving, BLIND, Plan},
};

const PATTERN: Family = Family {
    causes: &[Cause::Independent, Cause::IndependentOrRequest, Cause::Mixed],
    check: Check::TailByFault,
    ..Family::PATTERN
};

const OPEN: Plan = Plan {
    instances: (3, 30),
    rate: (100.0, 2_000.0),
    utilisation: (0.1, 0.5),
    service: (0.001, 0.02),
    balancing: ALL,
    arriving: &[Arriving::Alone, Arriving::InBursts],
};

/// With so many instances on each of so many hosts.
const fn on_hosts(hosts: u32, each: u32) -> Plan {
    Plan { instances: (hosts * each, hosts * each), ..OPEN }
}

pub(super) const FAMILIES: &[Family] = &[
    // Several instances of each host stop together, and at least five hosts do so alone.
    Family {
        name: "hosts-pause",
        draw: |draw| {
            let pace = Pace::any(draw);
            let (hosts, each) = (draw.whole(5..=10), draw.whole(2..=3));
            let system = on_hosts(hosts, each).draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(10.0, 50.0)).clamp(0.03, 0.6);
            let part = draw.magnitude(0.018, 0.04) * (1.0 - load(&system));
            let when = at_random(part, length);
            let traffic = Traffic::to(system).fault(Scope::Groups(each), when, Effect::Pause);
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
    Family {
        name: "crowded-hosts-pause",
        half: Half::Tuning,
        draw: |draw| {
            let pace = Pace::even(draw);
            let (hosts, each) = (draw.whole(4..=6), draw.whole(4..=6));
            let system = on_hosts(hosts, each).draw(draw, pace)?;
            let length = (service(&system) * draw.magnitude(15.0, 60.0)).clamp(0.05, 0.6);
            let part = draw.magnitude(0.018, 0.035) * (1.0 - load(&system));
            let when = if draw.chance(0.5) { at_random(part, length) } else { regularly(part, length) };
            let traffic = Traffic::to(system).fault(Scope::Groups(each), when, Effect::Pause);
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
    // One instance after the other stops for a second or two, and answers then what has piled up.
    Family {
        name: "rolling-stops",
        causes: &[Cause::Independent, Cause::IndependentOrRequest, Cause::Instance, Cause::Mixed],
        actions: &[Action::Hedge, Action::Canary, Action::Eject],
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { instances: (4, 14), utilisation: (0.1, 0.35), balancing: BLIND, ..OPEN };
            let system = plan.draw(draw, pace)?;
            // Together they are down for as large a part as is slow, times how many there are.
            let part = draw.magnitude(0.02, 0.035) * f64::from(system.instances.get());
            let when = regularly(part.min(0.8), draw.between(0.4, 2.0));
            let traffic = Traffic::to(system).fault(Scope::InTurn, when, Effect::Pause);
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
    // One after the other begins cold, and is slow until its caches are warm.
    Family {
        name: "rolling-cold-starts",
        half: Half::Tuning,
        causes: &[Cause::Independent, Cause::IndependentOrRequest, Cause::Instance, Cause::Mixed],
        actions: &[Action::Hedge, Action::Canary, Action::Eject],
        draw: |draw| {
            let pace = Pace::even(draw);
            let plan = Plan { instances: (5, 20), utilisation: (0.05, 0.15), balancing: BLIND, ..OPEN };
            let system = plan.draw(draw, pace)?;
            let part = draw.magnitude(0.018, 0.035) * f64::from(system.instances.get());
            let when = regularly(part.min(0.9), draw.between(1.0, 3.0));
            let factor = draw.magnitude(4.5, 8.0);
            let traffic = Traffic::to(system).fault(Scope::InTurn, when, Effect::Slower(factor));
            Ok(mostly_named(draw, traffic))
        },
        ..PATTERN
    },
];
