//! What families are made of.

use observer::simulation::{Class, Scope, System, When};

use crate::{case::Traffic, draw::Draw, pace::Pace, units};

/// What requests are called.
const NAMES: [&str; 8] = [
    "GET /item",
    "GET /items",
    "GET /search",
    "GET /orders",
    "GET /price",
    "GET /stock",
    "GET /login",
    "GET /profile",
];

/// Some executions, few enough for a budget of 5 %, take many times as long.
pub(super) fn slow_executions(draw: &mut Draw) -> Pace {
    Pace::Slow {
        share: draw.magnitude(0.013, 0.042),
        factor: draw.magnitude(6.0, 40.0),
        sigma: draw.between(0.02, 0.4),
    }
}

/// Classes that cost about the same and take shares of any size.
pub(super) fn equal_classes(draw: &mut Draw) -> Vec<Class> {
    let count = draw.whole(2..=6);
    let sizes: Vec<_> = (0..count).map(|_| draw.magnitude(1.0, 15.0)).collect();
    let sum: f64 = sizes.iter().sum();
    let class = |(name, size): (&'static str, &f64)| Class {
        name,
        share: units::share(size / sum * 0.999_999),
        factor: draw.between(0.8, 1.2),
    };
    NAMES.into_iter().zip(&sizes).map(class).collect()
}

/// Classes of which the last few, which take this share together, cost so many times as much as the others.
pub(super) fn costly_classes(draw: &mut Draw, costly: &[(f64, f64)]) -> Vec<Class> {
    let rest: f64 = 1.0 - costly.iter().map(|(share, _)| share).sum::<f64>();
    let mut classes = equal_classes(draw);
    classes.truncate(NAMES.len() - costly.len());
    for class in &mut classes {
        class.share = units::share(class.share.as_fraction() * rest);
    }
    let names = NAMES.into_iter().skip(classes.len());
    classes.extend(names.zip(costly).map(|(name, (share, factor))| Class {
        name,
        share: units::share(*share),
        factor: *factor,
    }));
    classes
}

/// The traffic with kinds of requests that can be told apart and cost the same, in most cases.
pub(super) fn mostly_named(draw: &mut Draw, traffic: Traffic) -> Traffic {
    if draw.chance(0.7) { traffic.classes(equal_classes(draw)) } else { traffic }
}

/// How long serving takes, in seconds.
pub(super) fn service(system: &System) -> f64 {
    system.service.mean_seconds()
}

/// How loaded the system is; a closed loop at about a third.
pub(super) fn load(system: &System) -> f64 {
    system.utilisation().unwrap_or(0.33)
}

/// At random, so that it takes this part of the time.
pub(super) fn at_random(part: f64, length: f64) -> When {
    When::Random { gap: units::seconds(length * (1.0 - part) / part), length: units::seconds(length) }
}

/// In regular steps, so that it takes this part of the time.
pub(super) fn regularly(part: f64, length: f64) -> When {
    When::Periodic { every: units::seconds(length / part), length: units::seconds(length) }
}

/// Once, between two parts of the minute.
pub(super) fn once(from: f64, to: f64) -> When {
    When::Window { from: units::seconds(from * 60.0), to: units::seconds(to * 60.0) }
}

/// Any instance.
pub(super) fn any(draw: &mut Draw, system: &System) -> u32 {
    draw.whole(0..=system.instances.get() - 1)
}

/// One instance.
pub(super) fn one(draw: &mut Draw, system: &System) -> Scope {
    Scope::One(any(draw, system))
}
