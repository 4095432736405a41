//! More is asked for than can be served, for a while.

use observer::{
    analysis::model::Cause,
    simulation::{Rate, System},
};

use super::SHARED;
use crate::{
    case::{Check, Family, Traffic},
    draw::Draw,
    families::parts::{at_random, load, mostly_named, once},
    pace::Pace,
    plan::{ALL, Arriving, LEVEL, Plan, bursts},
    units,
};

const FULL: Family = Family { causes: &[Cause::Saturated], check: Check::Tail, ..SHARED };

const BY_OTHERS: Family =
    Family { causes: &[Cause::Saturated, Cause::Shared], check: Check::TailByFault, ..FULL };

const PLAN: Plan = Plan {
    instances: (3, 16),
    rate: (120.0, 1_200.0),
    utilisation: (0.3, 0.55),
    service: (0.002, 0.03),
    balancing: LEVEL,
    arriving: &[Arriving::Alone],
};

/// How many requests a second are this much of the capacity.
fn part_of_capacity(system: &System, part: f64) -> anyhow::Result<Rate> {
    units::rate(system.capacity().map_or(1.0, Rate::as_per_second) * part)
}

fn pace(draw: &mut Draw) -> Pace {
    if draw.chance(0.4) { Pace::LogNormal(draw.between(0.4, 0.7)) } else { Pace::even(draw) }
}

pub(super) const FAMILIES: &[Family] = &[
    // Up and down again, in a dozen small steps.
    Family {
        name: "hill-of-load",
        draw: |draw| {
            let pace = pace(draw);
            let system = PLAN.draw(draw, pace)?;
            let most = draw.between(1.08, 1.25) - load(&system);
            let step = part_of_capacity(&system, most / 6.0)?;
            let (top, half) = (draw.between(0.35, 0.65), draw.between(0.15, 0.3));
            let mut traffic = Traffic::to(system);
            for number in 0..6 {
                let left = half * (1.0 - f64::from(number) / 6.0);
                traffic = traffic.others(once(top - left, top + left), step);
            }
            Ok(mostly_named(draw, traffic))
        },
        ..BY_OTHERS
    },
    Family {
        name: "surges-of-others-with-rejections",
        draw: |draw| {
            let pace = pace(draw);
            let system =
                Plan { arriving: &[Arriving::Alone, Arriving::InBursts], ..PLAN }.draw(draw, pace)?;
            let rate = part_of_capacity(&system, draw.between(1.2, 1.7) - load(&system))?;
            let when = at_random(draw.between(0.08, 0.2), draw.magnitude(0.4, 2.0));
            let most = system.slots.get() * draw.whole(6..=12) + 3;
            let traffic = Traffic::to(system).others(when, rate).refused_beyond(most);
            Ok(mostly_named(draw, traffic))
        },
        ..BY_OTHERS
    },
    // A whole batch at once, several times what can be served.
    Family {
        name: "short-surges-of-others",
        draw: |draw| {
            let pace = pace(draw);
            let system = Plan { utilisation: (0.15, 0.45), ..PLAN }.draw(draw, pace)?;
            let rate = part_of_capacity(&system, draw.between(2.0, 4.0))?;
            let when = at_random(draw.between(0.015, 0.05), draw.magnitude(0.1, 0.4));
            Ok(mostly_named(draw, Traffic::to(system).others(when, rate)))
        },
        ..BY_OTHERS
    },
    // Some instances are full sooner than others.
    Family {
        name: "bursts-at-high-load",
        draw: |draw| {
            let pace = pace(draw);
            let mut system = Plan { utilisation: (0.6, 0.8), balancing: ALL, ..PLAN }.draw(draw, pace)?;
            let rate = system.arrivals.rate().map_or(1.0, Rate::as_per_second);
            let factor = draw.between(1.2, 1.6) / load(&system);
            let part = draw.between(0.06, 0.6 / factor);
            system.arrivals = bursts(rate, factor, part, draw.magnitude(0.5, 4.0))?;
            Ok(mostly_named(draw, Traffic::to(system)))
        },
        ..FULL
    },
];
