//! What must not change, whatever the system and the policy.

use super::*;

fn each(check: impl Fn(&System, &Policy, &Outcome)) {
    for system in all_systems() {
        for policy in all_policies() {
            check(&system, &policy, &simulate(&system, &policy, requests(400), 1));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    each(|system, policy, outcome| {
        let again = simulate(system, policy, requests(400), 1);
        assert_eq!(format!("{again:?}"), format!("{outcome:?}"));
    });
}

#[test]
fn another_seed_gives_another_outcome() {
    let system = system(4, 2, mostly_fast(), 0.8);
    let outcome = |seed| format!("{:?}", simulate(&system, &Policy::NONE, requests(400), seed));
    assert_ne!(outcome(1), outcome(2));
}

#[test]
fn every_request_is_answered_and_every_copy_accounted_for() {
    each(|system, policy, outcome| {
        let counts = &outcome.counts;
        assert_eq!(counts.requests, 400);
        assert_eq!(counts.calls, counts.requests * u64::from(system.width.get()));
        assert_eq!(outcome.hedged.count() + outcome.unhedged.count(), counts.requests);
        assert_eq!(outcome.latency().count(), counts.requests);
        // Whatever was sent was begun, or dropped before.
        assert_eq!(
            counts.all_executions() + counts.dropped_waiting,
            counts.calls + counts.extra_copies,
            "{policy:?}"
        );
        assert!(counts.extra_copies <= counts.calls * (policy.most_copies() - 1));
        assert!(outcome.reached_bound);
    });
}

#[test]
fn without_cancellation_nothing_is_dropped() {
    each(|_, policy, outcome| {
        if policy.cancellation == Cancellation::Never && !matches!(policy.tactic, Tactic::Tied { .. }) {
            assert_eq!((outcome.counts.dropped_waiting, outcome.counts.dropped_served), (0, 0), "{policy:?}");
        }
    });
}

#[test]
fn arrivals_do_not_depend_on_the_policy() {
    let system = system(4, 2, mostly_fast(), 0.8);
    let extent = Extent { duration: ms(5_000), requests: u64::MAX };
    let arrived = |policy: &Policy| simulate(&system, policy, extent, 1).counts.requests;
    let without = arrived(&Policy::NONE);
    assert!(all_policies().iter().all(|policy| arrived(policy) == without));
}

#[test]
fn a_budget_of_nothing_is_no_hedging() {
    let system = system(4, 2, mostly_fast(), 0.9);
    let nothing = Budget { share: share(0.0), burst: count(100) };
    let hedging = hedge(Hedge { budget: Some(nothing), ..Hedge::after(ms(30)) });
    let [with, without] =
        [hedging, Policy::NONE].map(|policy| simulate(&system, &policy, requests(20_000), 1));
    assert_eq!(format!("{:?}", with.unhedged), format!("{:?}", without.unhedged));
    assert_eq!(with.counts.executions, without.counts.executions);
    assert!(with.counts.denied.budget > 0);
}

#[test]
fn a_probability_of_nothing_is_no_hedging() {
    let system = system(4, 2, mostly_fast(), 0.9);
    let hedging = hedge(Hedge { probability: share(0.0), ..Hedge::after(ms(30)) });
    let [with, without] =
        [hedging, Policy::NONE].map(|policy| simulate(&system, &policy, requests(5_000), 1));
    assert_eq!(format!("{:?}", with.unhedged), format!("{:?}", without.unhedged));
}

#[test]
fn one_copy_at_once_is_no_hedging() {
    let system = system(4, 2, mostly_fast(), 0.9);
    let one = Policy::of(Tactic::AtOnce { copies: count(1) });
    let outcome = |policy| format!("{:?}", simulate(&system, policy, requests(5_000), 1));
    assert_eq!(outcome(&one), outcome(&Policy::NONE));
}

#[test]
fn time_has_no_scale() {
    // Everything ten times as long: constants, so that rounding has nothing to do with it but for arrivals.
    let fast = system(4, 2, mostly_fast(), 0.8);
    let part = |part, time| Part { share: share(part), shift: time, shape: Shape::Constant(Nanoseconds(0)) };
    let slow_service = ServiceTime::mixture(vec![part(0.98, ms(100)), part(0.02, ms(3_000))]).unwrap();
    let slow = system(4, 2, slow_service, 0.8);
    let [fast, slow] = [(fast, ms(30)), (slow, ms(300))]
        .map(|(system, delay)| simulate(&system, &hedge(Hedge::after(delay)), requests(50_000), 1));
    assert_eq!(fast.counts, slow.counts);
    for quantile in [0.5, 0.9, 0.99, 0.999] {
        let [fast, slow] = [&fast, &slow].map(|outcome| outcome.latency().quantile(quantile).as_seconds());
        assert!((slow / fast / 10.0 - 1.0).abs() < 0.002, "{quantile}: {fast} s, {slow} s");
    }
}

#[test]
fn no_instance_is_preferred() {
    for system in all_systems() {
        let outcome = simulate(&system, &hedge(Hedge::after(ms(30))), requests(40_000), 1);
        let executions = &outcome.counts.executions;
        let mean = outcome.counts.all_executions() as f64 / executions.len() as f64;
        for count in executions {
            // Balancing by latency remembers which instance was slow last, for longer than chance alone would.
            let tolerance = if system.balancing == Balancing::LatencyAware { 0.25 } else { 0.05 };
            assert!((*count as f64 / mean - 1.0).abs() < tolerance, "{:?}: {executions:?}", system.balancing);
        }
    }
}

#[test]
fn what_arrives_after_the_time_is_up_is_not_simulated() {
    let system = system(4, 2, mostly_fast(), 0.8);
    let extent = Extent { duration: ms(1_000), requests: 1_000_000 };
    let outcome = simulate(&system, &Policy::NONE, extent, 1);
    let expected = system.arrivals.rate().unwrap().as_per_second();
    assert!((outcome.counts.requests as f64 - expected).abs() < 5.0 * expected.sqrt());
    assert!(!outcome.reached_bound);
    let slices: u64 = outcome
        .over_time
        .iter()
        .map(|slice| {
            let mut merged = crate::ledger::Merged::default();
            merged.add(slice);
            merged.count()
        })
        .sum();
    assert_eq!(slices, outcome.counts.requests);
}

#[test]
fn a_system_beyond_its_capacity_ends_at_its_bound() {
    for policy in all_policies() {
        let outcome = simulate(&system(2, 1, mostly_fast(), 3.0), &policy, requests(2_000), 1);
        assert_eq!(outcome.counts.requests, 2_000);
    }
}
