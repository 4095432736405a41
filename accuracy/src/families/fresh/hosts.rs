//! Hosts with two to eight instances.

use observer::{
    analysis::model::{Action, Cause},
    simulation::{Effect, Scope},
};

use super::PAUSES;
use crate::{
    case::{Family, Hedging, Traffic},
    draw::Draw,
    families::parts::{at_random, load, mostly_named, regularly, service},
    pace::Pace,
    plan::{ALL, Arriving, Plan},
    units,
};

const OPEN: Plan = Plan {
    instances: (8, 30),
    rate: (200.0, 1_500.0),
    utilisation: (0.08, 0.4),
    service: (0.001, 0.015),
    balancing: ALL,
    arriving: &[Arriving::Alone, Arriving::InBursts],
};

fn paused(draw: &mut Draw, hosts: u32, each: u32) -> anyhow::Result<Traffic> {
    let pace = Pace::even(draw);
    let mut system = OPEN.draw(draw, pace)?;
    // As loaded as before, whatever the number of instances.
    let utilisation = load(&system);
    system.instances = units::whole(f64::from(hosts * each));
    let system = system.at_utilisation(utilisation).unwrap_or(system);
    let length = (service(&system) * draw.magnitude(12.0, 50.0)).clamp(0.03, 0.5);
    let part = draw.magnitude(0.018, 0.035) * (1.0 - utilisation);
    let when = if draw.chance(0.3) { regularly(part, length) } else { at_random(part, length) };
    Ok(mostly_named(draw, Traffic::to(system).fault(Scope::Groups(each), when, Effect::Pause)))
}

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "many-hosts-of-two-to-four",
        causes: &[Cause::Independent, Cause::IndependentOrRequest, Cause::Mixed],
        draw: |draw| {
            let (hosts, each) = (draw.whole(6..=10), draw.whole(2..=4));
            paused(draw, hosts, each)
        },
        ..PAUSES
    },
    // Every second or third copy comes to the same host.
    Family {
        name: "few-hosts-of-four-to-eight",
        causes: &[Cause::Independent, Cause::IndependentOrRequest, Cause::Mixed, Cause::Shared],
        actions: &[Action::Hedge, Action::Canary, Action::DoNotHedge],
        hedging: Hedging::Possible,
        draw: |draw| {
            let (hosts, each) = (draw.whole(2..=3), draw.whole(4..=8));
            paused(draw, hosts, each)
        },
        ..PAUSES
    },
];
