//! What every policy promises.

use super::*;

/// So many slots that nothing ever waits.
fn without_queues(service: ServiceTime) -> System {
    system(10, 1_000_000, service, 1e-6)
}

#[test]
fn a_hedge_is_sent_after_the_delay_and_not_at_it() {
    let constant = ServiceTime::only(Shape::Constant(ms(30))).unwrap();
    let at = simulate(&without_queues(constant.clone()), &hedge(Hedge::after(ms(30))), requests(1_000), 1);
    assert_eq!(at.counts.extra_copies, 0);
    let before = hedge(Hedge::after(Nanoseconds(ms(30).0 - 1)));
    let before = simulate(&without_queues(constant), &before, requests(1_000), 1);
    assert_eq!(before.counts.extra_copies, 1_000);
}

#[test]
fn a_hedged_request_takes_at_least_the_delay() {
    for system in all_systems() {
        let outcome = simulate(&system, &hedge(Hedge::after(ms(30))), requests(5_000), 1);
        assert!(outcome.hedged.shortest().is_none_or(|shortest| shortest >= ms(30)));
        assert!(outcome.hedged.count() > 0);
    }
}

#[test]
fn a_slow_copy_is_rescued_after_the_delay_and_a_fast_one() {
    let outcome =
        simulate(&without_queues(mostly_fast()), &hedge(Hedge::after(ms(30))), requests(100_000), 1);
    assert!((0.018..0.022).contains(&outcome.hedged_share()));
    assert_eq!(outcome.hedged.shortest(), Some(ms(40)));
    let won = outcome.counts.won_by_copies as f64 / outcome.counts.extra_copies as f64;
    assert!((0.96..1.0).contains(&won), "{won}");
}

#[test]
fn hedges_stay_within_the_budget_on_every_system() {
    let budget = Budget { share: share(0.05), burst: count(50) };
    let policy = hedge(Hedge { budget: Some(budget), ..Hedge::after(ms(5)) });
    for system in all_systems() {
        for seed in 1..=3 {
            let counts = simulate(&system, &policy, requests(5_000), seed).counts;
            assert!(counts.extra_copies * 20 <= counts.calls, "{counts:?}");
            assert!(counts.denied.budget > 0);
        }
    }
}

#[test]
fn a_wide_request_has_no_more_hedges_than_allowed() {
    let wide = System { width: count(20), ..without_queues(exponential(ms(10))) };
    let free = Hedge::after(ms(10));
    let one = simulate(&wide, &hedge(Hedge { per_request: Some(count(1)), ..free }), requests(2_000), 1);
    assert_eq!(one.counts.extra_copies, one.hedged.count());
    assert!(one.counts.denied.per_request > 0);
    let any = simulate(&wide, &hedge(free), requests(2_000), 1);
    assert!(any.counts.extra_copies > 5 * any.hedged.count());
}

#[test]
fn hedging_is_off_while_too_many_wait() {
    let overloaded = system(2, 1, mostly_fast(), 2.0);
    let policy = |off_above| hedge(Hedge { off_above, ..Hedge::after(ms(30)) });
    let on = simulate(&overloaded, &policy(None), requests(5_000), 1);
    let off = simulate(&overloaded, &policy(Some(QueueDepth(5))), requests(5_000), 1);
    assert!(off.counts.denied.overload > 4_000);
    assert!(off.counts.extra_copies < 500 && on.counts.extra_copies > 4_000);
}

#[test]
fn a_hedge_for_idle_instances_never_waits() {
    let busy = system(2, 1, mostly_fast(), 0.9);
    let policy = hedge(Hedge { target: Target::Idle, ..Hedge::after(ms(30)) });
    let counts = simulate(&busy, &policy, requests(20_000), 1).counts;
    assert!(counts.denied.no_idle > 0 && counts.extra_copies > 0);
    // What is sent to an idle instance takes no time but its own.
    let alone = system(1, 1, mostly_fast(), 0.9);
    let counts = simulate(&alone, &policy, requests(5_000), 1).counts;
    assert!(counts.denied.no_idle > 0);
}

#[test]
fn copies_at_once_go_to_different_instances() {
    let constant = ServiceTime::only(Shape::Constant(ms(10))).unwrap();
    let policy = Policy::of(Tactic::AtOnce { copies: count(4) });
    let outcome = simulate(&system(4, 1_000, constant, 0.001), &policy, requests(1_000), 1);
    assert_eq!(outcome.counts.executions, [1_000; 4]);
}

#[test]
fn the_losers_of_copies_at_once_are_dropped() {
    let policy = Policy {
        cancellation: Cancellation::After(Nanoseconds(0)),
        ..Policy::of(Tactic::AtOnce { copies: count(5) })
    };
    let outcome = simulate(&without_queues(exponential(ms(20))), &policy, requests(5_000), 1);
    assert_eq!(outcome.counts.all_executions(), 25_000);
    assert_eq!(outcome.counts.dropped_served, 20_000);
}

#[test]
fn cancelling_saves_work_and_time_under_load() {
    let loaded = system(4, 2, mostly_fast(), 0.7);
    let policy = |cancellation| Policy { cancellation, ..Policy::of(Tactic::AtOnce { copies: count(2) }) };
    let [never, soon] = [Cancellation::Never, Cancellation::After(ms(1))]
        .map(|cancellation| simulate(&loaded, &policy(cancellation), requests(5_000), 1));
    assert!(soon.counts.dropped_waiting > 0 && soon.counts.dropped_served > 0);
    assert!(soon.mean_latency_seconds() < never.mean_latency_seconds());
}

#[test]
fn tied_copies_are_served_once_with_free_messages() {
    let loaded = system(4, 2, mostly_fast(), 0.8);
    let tied = |message| Policy::of(Tactic::Tied { message });
    let free = simulate(&loaded, &tied(Nanoseconds(0)), requests(10_000), 1);
    assert_eq!(free.counts.all_executions(), 10_000);
    let slow = simulate(&loaded, &tied(ms(1)), requests(10_000), 1);
    assert!((10_001..11_000).contains(&slow.counts.all_executions()));
    let without = simulate(&loaded, &Policy::NONE, requests(10_000), 1);
    assert!(free.mean_latency_seconds() < without.mean_latency_seconds());
}

#[test]
fn layers_of_retries_multiply() {
    // Nothing is ever in time: three layers that try three times come to 27.
    let constant = ServiceTime::only(Shape::Constant(ms(100))).unwrap();
    let policy = Policy::of(Tactic::Retry { timeout: ms(10), tries: count(3), layers: count(3) });
    let outcome = simulate(&without_queues(constant), &policy, requests(100), 1);
    assert_eq!(outcome.counts.all_executions(), 2_700);
    assert_eq!(outcome.counts.failed, 100);
    assert_eq!(outcome.hedged.shortest(), Some(ms(270)));
}

#[test]
fn an_answer_to_a_copy_that_was_given_up_is_none() {
    // The first copy would answer after 15 ms; the second, sent after 10 ms, after 25 ms.
    let constant = ServiceTime::only(Shape::Constant(ms(15))).unwrap();
    let policy = Policy::of(Tactic::Retry { timeout: ms(10), tries: count(2), layers: count(1) });
    let outcome = simulate(&without_queues(constant), &policy, requests(100), 1);
    assert_eq!(outcome.counts.failed, 100);
    assert_eq!(outcome.latency().max(), ms(20));
}

#[test]
fn a_deadline_bounds_latency_and_cuts_calls_off() {
    let wide = System { width: count(10), ..without_queues(mostly_fast()) };
    let policy = Policy { deadline: Some(ms(50)), ..Policy::NONE };
    let outcome = simulate(&wide, &policy, requests(10_000), 1);
    assert_eq!(outcome.latency().max(), ms(50));
    let partial = outcome.counts.partial as f64 / 10_000.0;
    assert!((partial - (1.0 - 0.98_f64.powi(10))).abs() < 0.02, "{partial}");
}

#[test]
fn calls_that_share_a_processor_end_together() {
    let constant = ServiceTime::only(Shape::Constant(ms(10))).unwrap();
    for (width, slots, latency) in [(7, 1, 70_000_000), (7, 7, 10_000_000), (7, 3, 23_333_334)] {
        let alone = system(1, slots, constant.clone(), 1e-6);
        let sharing = System { discipline: Discipline::ProcessorSharing, width: count(width), ..alone };
        let outcome = simulate(&sharing, &Policy::NONE, requests(100), 1);
        assert_eq!(outcome.unhedged.shortest(), Some(Nanoseconds(latency)));
        assert_eq!(outcome.latency().max(), Nanoseconds(latency));
    }
}

#[test]
fn too_many_copies_are_refused() {
    let retry = |tries, layers| {
        Policy::of(Tactic::Retry { timeout: ms(1), tries: count(tries), layers: count(layers) })
    };
    assert_eq!(retry(10, 3).check(), Ok(()));
    assert_eq!(retry(11, 3).check(), Err(PolicyError::TooManyCopies { copies: 1_331 }));
    assert_eq!(retry(10, 4_000_000).check(), Err(PolicyError::TooManyCopies { copies: u64::MAX }));
}
