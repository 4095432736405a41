//! The simulation as a whole: against theory, against itself, and against what every policy promises.

mod conditions;
mod invariances;
mod policies;
mod seeing;
mod theory;

use std::num::NonZeroU32;

use observer_common::Nanoseconds;

use super::*;

const MILLISECOND: Nanoseconds = Nanoseconds(1_000_000);
const FOREVER: Nanoseconds = Nanoseconds(u64::MAX);

fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

fn ms(number: u64) -> Nanoseconds {
    Nanoseconds(number * MILLISECOND.0)
}

fn share(part: f64) -> Share {
    Share::new(part).unwrap()
}

fn rate(per_second: f64) -> Rate {
    Rate::per_second(per_second).unwrap()
}

fn exponential(mean: Nanoseconds) -> ServiceTime {
    ServiceTime::only(Shape::Exponential { mean }).unwrap()
}

/// 98 % take 10 ms, 2 % take 300 ms.
fn mostly_fast() -> ServiceTime {
    let part = |part, time| Part { share: share(part), shift: time, shape: Shape::Constant(Nanoseconds(0)) };
    ServiceTime::mixture(vec![part(0.98, ms(10)), part(0.02, ms(300))]).unwrap()
}

/// Queues before `instances` × `slots`, chosen at random, at this utilisation.
fn system(instances: u32, slots: u32, service: ServiceTime, utilisation: f64) -> System {
    let system = System {
        arrivals: Arrivals::Poisson(rate(1.0)),
        width: count(1),
        balancing: Balancing::Random,
        instances: count(instances),
        slots: count(slots),
        discipline: Discipline::FirstInFirstOut,
        service,
    };
    system.at_utilisation(utilisation).unwrap()
}

/// So many requests, however long that takes.
fn requests(requests: u64) -> Extent {
    Extent { duration: FOREVER, requests }
}

fn hedge(hedge: Hedge) -> Policy {
    Policy::of(Tactic::Hedge(hedge))
}

/// Policies of every kind.
fn all_policies() -> Vec<Policy> {
    let late = Hedge::after(ms(30));
    let budget = Budget { share: share(0.05), burst: count(100) };
    let mut policies: Vec<_> = [
        Tactic::Single,
        Tactic::Hedge(late),
        Tactic::Hedge(Hedge { probability: share(0.5), budget: Some(budget), ..late }),
        Tactic::Hedge(Hedge { target: Target::Any, off_above: Some(QueueDepth(1)), ..late }),
        Tactic::Hedge(Hedge { target: Target::Idle, per_request: Some(count(1)), ..late }),
        Tactic::AtOnce { copies: count(3) },
        Tactic::Tied { message: Nanoseconds(0) },
        Tactic::Tied { message: ms(1) },
        Tactic::Retry { timeout: ms(20), tries: count(2), layers: count(2) },
    ]
    .map(Policy::of)
    .into();
    let with_deadline = policies.iter().map(|policy| Policy { deadline: Some(ms(50)), ..*policy });
    policies.extend(with_deadline.collect::<Vec<_>>());
    let cancelling = [ms(0), ms(1)].map(Cancellation::After);
    let cancelled = cancelling.iter().flat_map(|cancellation| {
        policies.iter().map(|policy| Policy { cancellation: *cancellation, ..*policy })
    });
    policies.extend(cancelled.collect::<Vec<_>>());
    policies
}

/// Systems of every kind, some of them beyond what they can serve.
fn all_systems() -> Vec<System> {
    let base = system(4, 2, mostly_fast(), 0.8);
    let bursts = Bursts::new(base.arrivals.rate().unwrap(), 3.0, share(0.2), ms(500)).unwrap();
    let closed = Arrivals::ClosedLoop { clients: count(20), think: ms(5) };
    let balancings =
        [Balancing::RoundRobin, Balancing::TwoChoices, Balancing::LeastInFlight, Balancing::LatencyAware];
    let mut systems: Vec<_> = balancings.map(|balancing| System { balancing, ..base.clone() }).into();
    systems.extend([
        System { arrivals: Arrivals::Bursty(bursts), ..base.clone() },
        System { arrivals: closed, ..base.clone() },
        System { discipline: Discipline::ProcessorSharing, ..base.clone() },
        System { width: count(5), ..base.clone() },
        System { width: count(5), discipline: Discipline::ProcessorSharing, ..base.clone() },
        System { instances: count(1), ..base.clone() },
        base,
    ]);
    systems
}

/// A fault that strikes as long as requests arrive.
fn always(scope: Scope, effect: Effect) -> Conditions {
    fault(scope, When::Always, effect)
}

fn fault(scope: Scope, when: When, effect: Effect) -> Conditions {
    Conditions { faults: vec![Fault { scope, when, effect }], ..Conditions::default() }
}

/// The outcome under conditions, and everything that was seen.
fn watch(system: &System, conditions: &Conditions, policy: &Policy, extent: Extent) -> (Outcome, Vec<Seen>) {
    assert_eq!(conditions.check(system), Ok(()));
    let mut seen = Vec::new();
    let outcome = simulate_seen(system, conditions, policy, extent, 1, &mut |copy| seen.push(copy));
    (outcome, seen)
}
