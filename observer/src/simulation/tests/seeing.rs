//! What is seen of copies, under all policies.

use std::collections::BTreeMap;

use observer_common::Outcome as Ending;

use super::*;
use crate::exchange::Names;

/// Something of everything.
fn all_conditions(system: &System) -> Conditions {
    let dependency = ServiceTime::only(Shape::Constant(ms(50))).unwrap();
    let often = When::Random { gap: ms(200), length: ms(50) };
    let fault = |scope, effect| Fault { scope, when: often, effect };
    let mut faults = vec![
        fault(Scope::All, Effect::Dependency { share: share(0.2), time: dependency, by_request: false }),
        fault(Scope::One(0), Effect::Down { refuse_after: ms(1) }),
        fault(Scope::All, Effect::Loss { share: share(0.1), timeout: ms(20) }),
        fault(Scope::EachAlone, Effect::RoundTrip { added: ms(3) }),
        fault(Scope::All, Effect::LateReader),
    ];
    let mut conditions = Conditions {
        classes: vec![Class { name: "expensive", share: share(0.2), factor: 1.5 }],
        hidden_cost: Some(HiddenCost { share: share(0.02), factor: 4.0 }),
        others: vec![OtherLoad { when: often, rate: rate(100.0) }],
        ..Conditions::default()
    };
    if system.discipline == Discipline::FirstInFirstOut {
        faults.push(fault(Scope::EachAlone, Effect::Pause));
        faults.push(fault(Scope::Groups(2), Effect::Slower(3.0)));
        faults.push(fault(Scope::InTurn, Effect::Hang));
        conditions.most_waiting = Some(20);
    }
    conditions.faults = faults;
    conditions
}

fn each(extent: Extent, check: impl Fn(&System, &Policy, &Outcome, &[Seen])) {
    for system in all_systems() {
        for policy in all_policies() {
            let (outcome, seen) = watch(&system, &all_conditions(&system), &policy, extent);
            check(&system, &policy, &outcome, &seen);
        }
    }
}

#[test]
fn looking_changes_nothing() {
    for system in all_systems() {
        for policy in all_policies() {
            let (outcome, _) = watch(&system, &Conditions::default(), &policy, requests(400));
            let unseen = simulate(&system, &policy, requests(400), 1);
            assert_eq!(format!("{outcome:?}"), format!("{unseen:?}"));
        }
    }
}

#[test]
fn every_copy_is_seen_once_and_accounted_for() {
    each(requests(400), |system, policy, outcome, seen| {
        let counts = &outcome.counts;
        assert_eq!(counts.requests, 400);
        assert_eq!(outcome.latency().count(), 400);
        assert_eq!(seen.len() as u64, counts.calls + counts.extra_copies, "{policy:?}");
        let known = counts.all_executions() + counts.dropped_waiting + counts.refused;
        assert_eq!(known, counts.calls + counts.extra_copies, "{system:?} {policy:?}");
        let mut keys: Vec<_> = seen.iter().map(|copy| (copy.request, copy.attempt)).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), seen.len());
        let cancels =
            policy.cancellation != Cancellation::Never || matches!(policy.tactic, Tactic::Tied { .. });
        assert!(cancels || seen.iter().all(|copy| copy.outcome != Ending::Cancelled));
        assert!(
            seen.iter().all(|copy| copy.outcome == Ending::Ok || (!copy.failed && copy.read_lag == ms(0)))
        );
    });
}

#[test]
fn the_same_seed_shows_the_same() {
    let extent = Extent { duration: ms(2_000), requests: u64::MAX };
    each(extent, |system, policy, outcome, seen| {
        let (again, seen_again) = watch(system, &all_conditions(system), policy, extent);
        assert_eq!(format!("{again:?}"), format!("{outcome:?}"));
        assert_eq!(seen_again, seen);
    });
}

#[test]
fn what_is_seen_is_in_time_and_what_is_not_over_is_pending() {
    let extent = Extent { duration: ms(2_000), requests: u64::MAX };
    each(extent, |system, policy, outcome, seen| {
        let firsts = seen.iter().filter(|copy| copy.attempt == 0).count() as u64;
        assert_eq!(firsts, outcome.counts.calls, "{system:?} {policy:?}");
        for copy in seen {
            let end = copy.sent.0 + copy.latency.0;
            assert!(copy.sent < extent.duration && end <= extent.duration.0, "{copy:?}");
            assert!(copy.outcome != Ending::Pending || end == extent.duration.0);
        }
        let ends: Vec<_> = seen.iter().map(|copy| copy.sent.0 + copy.latency.0).collect();
        assert!(ends.is_sorted());
    });
}

#[test]
fn a_losing_copy_is_cancelled_when_the_other_answers() {
    let system = system(4, 1_000, exponential(ms(10)), 0.001);
    let twice = Policy::of(Tactic::AtOnce { copies: count(2) });
    let ends = |cancellation| {
        let policy = Policy { cancellation, ..twice };
        let (_, seen) = watch(&system, &Conditions::default(), &policy, requests(1_000));
        let mut ends: BTreeMap<u64, Vec<(Ending, u64)>> = BTreeMap::new();
        for copy in seen {
            ends.entry(copy.request).or_default().push((copy.outcome, copy.sent.0 + copy.latency.0));
        }
        ends
    };
    for copies in ends(Cancellation::After(ms(1))).into_values() {
        let [(Ending::Ok, answered), (Ending::Cancelled, cancelled)] = copies[..] else {
            panic!("a winner and a loser: {copies:?}")
        };
        assert_eq!(answered, cancelled);
    }
    for copies in ends(Cancellation::Never).into_values() {
        assert!(matches!(copies[..], [(Ending::Ok, won), (Ending::Ok, lost)] if won <= lost), "{copies:?}");
    }
}

/// When first copies were sent, of which class, and how long they take without any queue: what no policy may change.
fn primaries(policy: &Policy) -> Vec<(u64, Option<usize>, Nanoseconds, Nanoseconds)> {
    let roomy = system(4, 1_000_000, exponential(ms(10)), 1e-5);
    let time = exponential(ms(50));
    let faults = [
        Effect::Pause,
        Effect::Dependency { share: share(0.2), time, by_request: false },
        Effect::Loss { share: share(0.1), timeout: ms(200) },
    ]
    .map(|effect| Fault {
        scope: Scope::EachAlone,
        when: When::Random { gap: ms(500), length: ms(500) },
        effect,
    });
    let conditions = Conditions {
        classes: vec![Class { name: "a", share: share(0.5), factor: 2.0 }],
        hidden_cost: Some(HiddenCost { share: share(0.1), factor: 10.0 }),
        faults: faults.into(),
        ..Conditions::default()
    };
    let (_, seen) = watch(&roomy, &conditions, policy, requests(5_000));
    let mut primaries: Vec<_> = seen
        .iter()
        .filter(|copy| copy.attempt == 0)
        .map(|copy| (copy.request, copy.class, copy.sent, copy.latency))
        .collect();
    primaries.sort_unstable();
    primaries
}

#[test]
fn no_policy_changes_what_happens_to_first_copies_where_nothing_waits() {
    let without = primaries(&Policy::NONE);
    assert!(without.len() == 5_000);
    for tactic in [
        Tactic::Hedge(Hedge::after(ms(20))),
        Tactic::AtOnce { copies: count(3) },
        Tactic::Retry { timeout: ms(20), tries: count(2), layers: count(2) },
    ] {
        assert!(primaries(&Policy::of(tactic)) == without, "{tactic:?}");
    }
}

#[test]
fn a_copy_becomes_the_exchange_that_a_probe_would_record() {
    let down = always(Scope::One(0), Effect::Down { refuse_after: ms(1) });
    let system = system(2, 4, mostly_fast(), 0.1);
    let (_, seen) = watch(&system, &down, &hedge(Hedge::after(ms(30))), requests(1_000));
    let mut names = Names::default();
    let labels = SeenNames {
        service: names.id("simulated"),
        instance: names.id("10.0.0.1:8000"),
        class: None,
        unavailable: names.id("503"),
    };
    for copy in seen {
        let exchange = copy.exchange(&labels, CopyIds::Logged);
        assert_eq!((exchange.start.0, exchange.latency), (copy.sent.0, copy.latency));
        assert_eq!((exchange.request, exchange.attempt), (Some(copy.request), Some(copy.attempt)));
        assert_eq!(exchange.status.map(|status| names.text(status)), copy.failed.then_some("503"));
        let anonymous = copy.exchange(&labels, CopyIds::Anonymous);
        assert_eq!((anonymous.request, anonymous.attempt), (None, None));
    }
}
