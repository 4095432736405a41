//! What conditions do.

use observer_common::Outcome as Ending;

use super::*;

const SECOND: u64 = 1_000;

/// Hardly loaded instances that take 10 ms.
fn calm() -> System {
    system(4, 4, ServiceTime::only(Shape::Constant(ms(10))).unwrap(), 0.1)
}

/// The same load, and nothing ever waits.
fn roomy() -> System {
    System { slots: count(1_000), ..calm() }
}

fn for_seconds(seconds: u64) -> Extent {
    Extent { duration: ms(seconds * SECOND), requests: u64::MAX }
}

fn window(from_ms: u64, to_ms: u64) -> When {
    When::Window { from: ms(from_ms), to: ms(to_ms) }
}

fn slow(copy: &Seen) -> bool {
    copy.latency > ms(20)
}

#[test]
fn a_pause_delays_whom_it_strikes_until_it_is_over_and_nobody_else() {
    let pause = fault(Scope::One(2), window(1_000, 1_500), Effect::Pause);
    let (_, seen) = watch(&roomy(), &pause, &Policy::NONE, for_seconds(5));
    assert!(seen.iter().filter(|copy| slow(copy)).count() > 10);
    for copy in seen.iter().filter(|copy| copy.outcome == Ending::Ok) {
        // What is left of the pause, of which what is served before knows nothing.
        let paused = if copy.instance != 2 || copy.sent <= ms(990) || copy.sent >= ms(1_500) {
            ms(0)
        } else {
            Nanoseconds(ms(1_500).0 - copy.sent.0.max(ms(1_000).0))
        };
        assert_eq!(copy.latency.0, ms(10).0 + paused.0, "{copy:?}");
    }
}

#[test]
fn a_group_is_struck_at_the_same_time_and_apart_from_others() {
    let when = When::Random { gap: ms(1_000), length: ms(200) };
    let (_, seen) =
        watch(&calm(), &fault(Scope::Groups(2), when, Effect::Pause), &Policy::NONE, for_seconds(60));
    // In which tenths of a second who was slow.
    let slow_in = |instance: u32| -> std::collections::BTreeSet<u64> {
        let of = seen.iter().filter(|copy| copy.instance == instance && copy.latency > ms(60));
        of.map(|copy| copy.sent.0 / ms(100).0).collect()
    };
    let both = |a, b| slow_in(a).intersection(&slow_in(b)).count() as f64 / slow_in(a).len() as f64;
    assert!(both(0, 1) > 0.5 && both(2, 3) > 0.5);
    assert!(both(0, 2) < 0.4 && both(1, 3) < 0.4);
}

#[test]
fn a_rolling_restart_strikes_one_after_the_other() {
    let when = When::Periodic { every: ms(500), length: ms(500) };
    let (_, seen) =
        watch(&calm(), &fault(Scope::InTurn, when, Effect::Pause), &Policy::NONE, for_seconds(10));
    let mut turns: Vec<_> = seen.iter().filter(|copy| copy.latency > ms(100)).collect();
    turns.sort_unstable_by_key(|copy| copy.sent);
    let mut turns: Vec<_> = turns.iter().map(|copy| copy.instance).collect();
    turns.dedup();
    assert!(turns.len() > 15);
    assert!(turns.iter().zip((0..4).cycle()).all(|(struck, turn)| *struck == turn), "{turns:?}");
}

#[test]
fn a_dependency_of_the_request_makes_both_copies_slow_and_one_of_the_execution_does_not() {
    let dependency = |by_request| {
        let time = ServiceTime::only(Shape::Constant(ms(300))).unwrap();
        always(Scope::All, Effect::Dependency { share: share(0.05), time, by_request })
    };
    for discipline in [Discipline::FirstInFirstOut, Discipline::ProcessorSharing] {
        let roomy = System { discipline, ..roomy() };
        let hedging = hedge(Hedge::after(ms(30)));
        let (outcome, seen) = watch(&roomy, &dependency(true), &hedging, for_seconds(60));
        assert!((0.03..0.07).contains(&outcome.hedged_share()));
        assert!(seen.iter().filter(|copy| copy.attempt == 1).all(slow));
        let (_, seen) = watch(&roomy, &dependency(false), &hedging, for_seconds(60));
        let hedges: Vec<_> = seen.iter().filter(|copy| copy.attempt == 1).collect();
        let slow_hedges = hedges.iter().filter(|copy| slow(copy)).count();
        assert!(hedges.len() > 100 && slow_hedges * 5 < hedges.len());
    }
}

#[test]
fn classes_and_hidden_costs_are_the_same_for_all_copies_of_a_request() {
    let class = |name, part, factor| Class { name, share: share(part), factor };
    let conditions = Conditions {
        classes: vec![class("read", 0.6, 1.0), class("write", 0.3, 3.0)],
        hidden_cost: Some(HiddenCost { share: share(0.1), factor: 10.0 }),
        ..Conditions::default()
    };
    let twice = Policy::of(Tactic::AtOnce { copies: count(2) });
    let (outcome, seen) = watch(&calm(), &conditions, &twice, requests(20_000));
    let first = |copy: &&Seen| copy.attempt == 0;
    let part = |class| {
        let of = seen.iter().filter(first).filter(|copy| copy.class == class).count();
        of as f64 / outcome.counts.requests as f64
    };
    for (class, expected) in [(Some(0), 0.6), (Some(1), 0.3), (None, 0.1)] {
        assert!((part(class) - expected).abs() < 0.02, "{class:?}: {}", part(class));
    }
    let mut by_request: Vec<_> = seen.iter().map(|copy| (copy.request, copy.class)).collect();
    by_request.sort_unstable();
    by_request.dedup();
    assert_eq!(by_request.len() as u64, outcome.counts.requests);
    let fastest = |class| seen.iter().filter(|copy| copy.class == class).map(|copy| copy.latency).min();
    assert_eq!([Some(0), Some(1), None].map(fastest), [Some(ms(10)), Some(ms(30)), Some(ms(10))]);
    let expensive = seen.iter().filter(first).filter(|copy| copy.class == Some(0) && copy.latency >= ms(100));
    let expensive = expensive.count() as f64 / (0.6 * outcome.counts.requests as f64);
    assert!((0.09..0.13).contains(&expensive), "{expensive}");
}

#[test]
fn speeds_and_weights_are_those_of_the_instances() {
    let conditions = Conditions {
        speeds: vec![1.0, 0.5, 2.0, 1.0],
        weights: vec![1.0, 1.0, 2.0, 0.0],
        ..Conditions::default()
    };
    let (outcome, seen) = watch(&roomy(), &conditions, &Policy::NONE, requests(20_000));
    for (instance, latency) in [(0, ms(10)), (1, ms(20)), (2, ms(5))] {
        assert!(seen.iter().filter(|copy| copy.instance == instance).all(|copy| copy.latency == latency));
    }
    let [a, b, c, none] = outcome.counts.executions[..] else { panic!("four instances") };
    assert_eq!((a + b + c, none), (20_000, 0));
    assert!(a.abs_diff(5_000) < 300 && b.abs_diff(5_000) < 300, "{a} {b} {c}");
}

#[test]
fn losses_show_in_retransmits_and_take_no_slot() {
    let lossy = always(Scope::All, Effect::Loss { share: share(0.05), timeout: ms(200) });
    let (outcome, seen) = watch(&calm(), &lossy, &Policy::NONE, for_seconds(60));
    let lost = seen.iter().filter(|copy| copy.retransmits > 0).count() as f64 / seen.len() as f64;
    assert!((0.04..0.06).contains(&lost), "{lost}");
    for copy in seen.iter().filter(|copy| copy.outcome == Ending::Ok) {
        let resent = ms(200 * ((1 << copy.retransmits) - 1));
        // Where the instance is this idle, hardly anything waits for a slot.
        assert!((10..15).contains(&((copy.latency.0 - resent.0) / MILLISECOND.0)), "{copy:?}");
    }
    assert_eq!(outcome.counts.all_executions(), outcome.counts.requests);
}

#[test]
fn a_longer_way_shows_in_the_round_trip_and_takes_no_slot() {
    let longer = fault(Scope::One(1), window(0, 5_000), Effect::RoundTrip { added: ms(40) });
    let (_, seen) = watch(&roomy(), &longer, &Policy::NONE, for_seconds(10));
    let normal = seen.iter().map(|copy| copy.srtt).min().unwrap();
    assert!(seen.iter().any(|copy| copy.srtt > normal));
    for copy in seen.iter().filter(|copy| copy.outcome == Ending::Ok) {
        let added = Nanoseconds(copy.srtt.0 - normal.0);
        assert_eq!(copy.latency.0, ms(10).0 + added.0);
        assert_eq!(added, if copy.instance == 1 && copy.sent < ms(5_000) { ms(40) } else { ms(0) });
    }
}

#[test]
fn who_is_down_fails_fast_and_never_wins() {
    let down = always(Scope::One(0), Effect::Down { refuse_after: ms(1) });
    let (outcome, seen) = watch(&calm(), &down, &Policy::NONE, for_seconds(20));
    assert_eq!(outcome.counts.executions[0], 0);
    let failed = seen.iter().filter(|copy| copy.failed).count() as u64;
    assert_eq!((outcome.counts.failed, outcome.counts.refused), (failed, failed));
    assert!(seen.iter().all(|copy| copy.failed == (copy.instance == 0)));
    assert!(seen.iter().filter(|copy| copy.failed).all(|copy| copy.latency == ms(1)));
    let twice = Policy::of(Tactic::AtOnce { copies: count(2) });
    let (outcome, seen) = watch(&calm(), &down, &twice, for_seconds(20));
    assert!(seen.iter().any(|copy| copy.failed));
    // The other copy was at an instance that is not down.
    assert_eq!(outcome.counts.failed, 0);
    assert!(outcome.hedged.shortest() >= Some(ms(10)));
}

#[test]
fn a_hedge_that_is_refused_ends_no_call() {
    let down = always(Scope::Some(vec![1, 2, 3]), Effect::Down { refuse_after: ms(0) });
    let only_first = Conditions { weights: vec![1.0, 0.0, 0.0, 0.0], ..down };
    let (outcome, seen) = watch(&roomy(), &only_first, &hedge(Hedge::after(ms(5))), for_seconds(20));
    assert!(seen.iter().all(|copy| copy.failed == (copy.attempt == 1)));
    assert_eq!((outcome.counts.failed, outcome.counts.won_by_copies), (0, 0));
    assert_eq!(outcome.hedged.shortest(), Some(ms(10)));
    assert_eq!(outcome.counts.extra_copies, outcome.counts.requests);
}

#[test]
fn a_hanging_instance_resets_what_it_had_and_is_well_afterwards() {
    let hang = fault(Scope::One(0), window(1_000, 2_000), Effect::Hang);
    let (outcome, seen) = watch(&calm(), &hang, &Policy::NONE, for_seconds(5));
    let reset: Vec<_> = seen.iter().filter(|copy| copy.outcome == Ending::Reset).collect();
    assert!(reset.len() > 20);
    assert_eq!(outcome.counts.failed, reset.len() as u64);
    assert!(reset.iter().all(|copy| copy.instance == 0 && copy.sent.0 + copy.latency.0 == ms(2_000).0));
    let held = |copy: &&Seen| copy.instance == 0 && copy.sent >= ms(1_000) && copy.sent < ms(2_000);
    assert!(seen.iter().filter(held).all(|copy| copy.outcome == Ending::Reset));
    let after = |copy: &&Seen| copy.sent >= ms(2_000) && copy.sent < ms(4_900);
    assert!(seen.iter().filter(after).all(|copy| copy.outcome == Ending::Ok && !slow(copy)));
    let counts = &outcome.counts;
    assert_eq!(counts.all_executions() + counts.dropped_waiting, counts.requests);
}

#[test]
fn what_hangs_to_the_end_is_pending_and_counts_as_long_as_the_run() {
    let hang = always(Scope::One(0), Effect::Hang);
    let (outcome, seen) = watch(&calm(), &hang, &Policy::NONE, for_seconds(5));
    for copy in seen.iter().filter(|copy| copy.instance == 0) {
        assert_eq!((copy.outcome, copy.sent.0 + copy.latency.0), (Ending::Pending, ms(5_000).0));
    }
    let unanswered = seen.iter().filter(|copy| copy.instance == 0).count() as u64;
    assert_eq!(outcome.counts.failed, unanswered);
    assert_eq!(outcome.latency().max(), ms(5_000));
    let (hedged, _) = watch(&calm(), &hang, &hedge(Hedge::after(ms(30))), for_seconds(5));
    assert_eq!(hedged.counts.failed, 0);
    assert!(hedged.latency().max() < ms(100));
}

#[test]
fn a_late_reader_sees_the_same_latency_and_reads_later() {
    let late = fault(Scope::All, When::Periodic { every: ms(1_000), length: ms(100) }, Effect::LateReader);
    let [(well, before), (outcome, seen)] = [Conditions::default(), late]
        .map(|conditions| watch(&calm(), &conditions, &Policy::NONE, for_seconds(20)));
    assert_eq!(well.counts, outcome.counts);
    let lagging = seen.iter().filter(|copy| copy.read_lag > ms(0)).count() as f64 / seen.len() as f64;
    assert!((0.08..0.12).contains(&lagging), "{lagging}");
    assert!(seen.iter().all(|copy| copy.read_lag <= ms(100)));
    let unread: Vec<_> = seen.iter().map(|copy| Seen { read_lag: ms(0), ..*copy }).collect();
    assert!(unread == before);
    let experienced = seen.iter().map(|copy| copy.latency.0 + copy.read_lag.0).max();
    assert!(outcome.latency().max().0 * 1_001 / 1_000 >= experienced.unwrap());
}

#[test]
fn a_bounded_queue_refuses_what_would_wait_too_long() {
    let bounded = Conditions { most_waiting: Some(3), ..Conditions::default() };
    let overloaded = system(2, 1, ServiceTime::only(Shape::Constant(ms(10))).unwrap(), 2.0);
    let (outcome, seen) = watch(&overloaded, &bounded, &Policy::NONE, for_seconds(20));
    assert!(outcome.latency().max() <= ms(41));
    let refused = outcome.counts.refused as f64 / outcome.counts.requests as f64;
    assert!((0.45..0.55).contains(&refused), "{refused}");
    assert!(seen.iter().filter(|copy| copy.failed).all(|copy| copy.latency == ms(0)));
}

#[test]
fn other_clients_slow_the_client_down_and_are_not_counted() {
    let tenth = When::Periodic { every: ms(1_000), length: ms(300) };
    let base = calm();
    let full = rate(base.capacity().unwrap().as_per_second() * 1.5);
    let others = Conditions { others: vec![OtherLoad { when: tenth, rate: full }], ..Conditions::default() };
    for discipline in [Discipline::FirstInFirstOut, Discipline::ProcessorSharing] {
        let system = System { discipline, ..base.clone() };
        let [(alone, before), (outcome, seen)] = [Conditions::default(), others.clone()]
            .map(|conditions| watch(&system, &conditions, &Policy::NONE, for_seconds(20)));
        assert_eq!(alone.counts.requests, outcome.counts.requests);
        assert_eq!(seen.len(), before.len());
        assert_eq!(outcome.counts.all_executions(), outcome.counts.requests);
        assert!(outcome.latency().quantile(0.95) > Nanoseconds(3 * alone.latency().quantile(0.95).0));
    }
}

#[test]
fn conditions_that_cannot_be_are_refused() {
    let queue = calm();
    let sharing = System { discipline: Discipline::ProcessorSharing, ..calm() };
    let slower = |factor| always(Scope::All, Effect::Slower(factor));
    let of = |conditions: Conditions| conditions.check(&queue);
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(of(slower(factor)), Err(ConditionsError::Factor { .. })));
    }
    assert_eq!(of(slower(2.0)), Ok(()));
    for conditions in [slower(2.0), always(Scope::All, Effect::Pause), always(Scope::All, Effect::Hang)] {
        assert_eq!(conditions.check(&sharing), Err(ConditionsError::Discipline));
    }
    for scope in [Scope::One(4), Scope::Some(vec![0, 4])] {
        let missing = ConditionsError::Instance { instance: 4, instances: 4 };
        assert_eq!(of(always(scope, Effect::Pause)), Err(missing));
    }
    assert_eq!(of(always(Scope::Groups(0), Effect::Pause)), Err(ConditionsError::Group));
    for when in [window(5, 5), When::Periodic { every: ms(1), length: ms(2) }] {
        assert_eq!(of(fault(Scope::All, when, Effect::Pause)), Err(ConditionsError::When));
    }
    let weights = |weights: &[f64]| Conditions { weights: weights.into(), ..Conditions::default() };
    assert_eq!(of(weights(&[1.0])), Err(ConditionsError::Number { given: 1, instances: 4 }));
    assert_eq!(of(weights(&[0.0; 4])), Err(ConditionsError::Weights));
    let in_turn = System { balancing: Balancing::RoundRobin, ..calm() };
    assert_eq!(weights(&[1.0; 4]).check(&in_turn), Err(ConditionsError::Balancing));
    let half = Class { name: "half", share: share(0.6), factor: 1.0 };
    let classes = Conditions { classes: vec![half; 2], ..Conditions::default() };
    assert!(matches!(of(classes), Err(ConditionsError::Classes { .. })));
}
