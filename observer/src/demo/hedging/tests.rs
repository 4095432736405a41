//! The hedging client under a clock of its own, without sockets.

use std::{
    cell::{Cell, RefCell},
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::*;

const DELAY: Duration = Duration::from_millis(30);

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Instances 0 and 1; primaries go to 0.
struct Two;

impl Pool for Two {
    type Instance = usize;

    fn pick(&self) -> Option<usize> {
        Some(0)
    }

    fn pick_other(&self, taken: &usize) -> Option<usize> {
        Some(1 - taken)
    }
}

/// What an instance does: how long it takes, and whether it then succeeds.
type Behaviour = (Duration, Result<(), ()>);

const FAST: Behaviour = (ms(10), Ok(()));
const SLOW: Behaviour = (ms(300), Ok(()));
const NEVER: Behaviour = (ms(3_600_000), Ok(()));
const FAILS_AT_ONCE: Behaviour = (ms(1), Err(()));
const FAILS_LATE: Behaviour = (ms(60), Err(()));

/// A policy whose budget has no effect.
fn unlimited() -> Policy {
    let budget = Budget { per_primary: Share::ALL, burst: NonZeroU32::MAX };
    Policy { budget, ..Policy::after(DELAY) }
}

/// How many futures of a call ended without being finished.
#[derive(Default)]
struct Cancelled(Cell<usize>);

struct Unfinished<'a>(&'a Cancelled, bool);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.0.set(self.0.0.get() + usize::from(!self.1));
    }
}

/// Calls once, with instances that behave so, and says how long that took and how many copies were cancelled.
async fn call(
    hedger: &Hedger,
    pool: &impl Pool<Instance = usize>,
    behaviours: [Behaviour; 2],
) -> (Finished<usize, ()>, Duration, usize) {
    let cancelled = Cancelled::default();
    let start = Instant::now();
    let finished = hedger
        .call(
            pool,
            Idempotent::vouch(|instance: usize, _| {
                let (duration, result) = behaviours[instance];
                let cancelled = &cancelled;
                async move {
                    let mut unfinished = Unfinished(cancelled, false);
                    sleep(duration).await;
                    unfinished.1 = true;
                    result.map(|()| instance)
                }
            }),
        )
        .await;
    (finished, start.elapsed(), cancelled.0.get())
}

async fn once(policy: Policy, behaviours: [Behaviour; 2]) -> (Finished<usize, ()>, Duration, usize) {
    call(&Hedger::new(policy, 1).unwrap(), &Two, behaviours).await
}

#[tokio::test(start_paused = true)]
async fn what_answers_within_the_delay_is_not_hedged() {
    let (finished, took, _) = once(unlimited(), [FAST, FAST]).await;
    assert_eq!(finished, Finished { result: Ok((0, Attempt::Primary)), second: Second::NotNeeded });
    assert_eq!(took, ms(10));
}

/// A rescued request takes the delay and the copy's time: never less than the delay.
#[tokio::test(start_paused = true)]
async fn a_late_request_takes_the_delay_and_the_copys_time_and_the_loser_is_cancelled() {
    let (finished, took, cancelled) = once(unlimited(), [SLOW, FAST]).await;
    assert_eq!(finished, Finished { result: Ok((1, Attempt::Hedge)), second: Second::Sent });
    assert_eq!(took, ms(40));
    assert_eq!(cancelled, 1);
}

#[tokio::test(start_paused = true)]
async fn the_primary_may_still_win() {
    let (finished, took, cancelled) = once(unlimited(), [(ms(35), Ok(())), FAST]).await;
    assert_eq!(finished, Finished { result: Ok((0, Attempt::Primary)), second: Second::Sent });
    assert_eq!((took, cancelled), (ms(35), 1));
}

#[tokio::test(start_paused = true)]
async fn a_fast_failure_of_the_copy_does_not_hide_the_primarys_success() {
    let (finished, took, _) = once(unlimited(), [SLOW, FAILS_AT_ONCE]).await;
    assert_eq!(finished.result, Ok((0, Attempt::Primary)));
    assert_eq!(took, ms(300));
}

#[tokio::test(start_paused = true)]
async fn a_late_failure_of_the_primary_does_not_hide_the_copys_success() {
    let (finished, took, _) = once(unlimited(), [FAILS_LATE, SLOW]).await;
    assert_eq!(finished.result, Ok((1, Attempt::Hedge)));
    assert_eq!(took, ms(330));
}

/// There is nothing to wait for, but the copy is a copy: budget and all else apply.
#[tokio::test(start_paused = true)]
async fn a_failure_within_the_delay_brings_the_copy_forward() {
    let (finished, took, _) = once(unlimited(), [FAILS_AT_ONCE, FAST]).await;
    assert_eq!(finished, Finished { result: Ok((1, Attempt::Hedge)), second: Second::Sent });
    assert_eq!(took, ms(11));

    let (finished, took, _) = once(Policy::after(DELAY), [FAILS_AT_ONCE, FAST]).await;
    let denied = Second::Denied(Denial::Budget);
    assert_eq!(finished, Finished { result: Err(CallError::Failed(())), second: denied });
    assert_eq!(took, ms(1));
}

#[tokio::test(start_paused = true)]
async fn where_every_copy_fails_the_request_does() {
    let (finished, took, _) = once(unlimited(), [FAILS_LATE, FAILS_AT_ONCE]).await;
    assert_eq!(finished, Finished { result: Err(CallError::Failed(())), second: Second::Sent });
    assert_eq!(took, ms(60));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_both_copies() {
    let policy = Policy { deadline: Some(ms(100)), ..unlimited() };
    let (finished, took, cancelled) = once(policy, [NEVER, NEVER]).await;
    assert_eq!(finished, Finished { result: Err(CallError::Expired), second: Second::Sent });
    assert_eq!((took, cancelled), (ms(100), 2));
}

#[tokio::test(start_paused = true)]
async fn copies_are_a_share_of_primaries_however_slow_everything_is() {
    let hedger = Hedger::new(Policy::after(DELAY), 1).unwrap();
    for _ in 0..200 {
        call(&hedger, &Two, [SLOW, SLOW]).await;
    }
    let counts = hedger.counts();
    assert_eq!((counts.primaries, counts.hedges, counts.denied_by_budget), (200, 10, 190));
}

#[tokio::test(start_paused = true)]
async fn the_two_populations_are_counted_apart() {
    let hedger = Hedger::new(unlimited(), 1).unwrap();
    for behaviours in
        [[FAST, FAST], [FAST, SLOW], [SLOW, FAST], [(ms(35), Ok(())), FAST], [FAILS_LATE, FAILS_AT_ONCE]]
    {
        call(&hedger, &Two, behaviours).await;
    }
    let counts = hedger.counts();
    assert_eq!(counts.unhedged, Population { won_by_primary: 2, ..Population::default() });
    let expected = Population { won_by_primary: 1, won_by_hedge: 1, failed: 1, expired: 0 };
    assert_eq!(counts.hedged, expected);
    assert_eq!((counts.primaries, counts.hedges), (5, 3));
}

#[tokio::test(start_paused = true)]
async fn chance_hedges_its_share_of_the_late_and_a_seed_decides_which() {
    let policy = Policy { probability: Share::percent(30), ..unlimited() };
    let mut runs = Vec::new();
    for seed in [1, 1, 2] {
        let hedger = Hedger::new(policy, seed).unwrap();
        let mut which = Vec::new();
        for _ in 0..1_000 {
            which.push(call(&hedger, &Two, [SLOW, FAST]).await.0.second == Second::Sent);
        }
        let counts = hedger.counts();
        assert_eq!(counts.hedges + counts.denied_by_chance, 1_000);
        // Four standard deviations of a binomial distribution: 4 × √(1000 × 0.3 × 0.7) = 58.
        assert!(counts.hedges.abs_diff(300) < 58, "{counts:?}");
        runs.push(which);
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_hedged_while_too_much_is_in_flight() {
    let policy = Policy { overload: NonZeroUsize::new(2), ..unlimited() };
    let hedger = Hedger::new(policy, 1).unwrap();
    let both = [SLOW, FAST];
    tokio::join!(call(&hedger, &Two, both), call(&hedger, &Two, both), call(&hedger, &Two, both));
    assert_eq!(hedger.counts().denied_by_overload, 3);
    // The load is gone with the requests.
    tokio::join!(call(&hedger, &Two, both), call(&hedger, &Two, both));
    assert_eq!(hedger.counts().hedged.won_by_hedge, 2);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_its_caller_drops_is_in_flight_no_more() {
    let policy = Policy { overload: NonZeroUsize::new(1), ..unlimited() };
    let hedger = Hedger::new(policy, 1).unwrap();
    assert!(timeout(ms(100), call(&hedger, &Two, [NEVER, NEVER])).await.is_err());
    assert_eq!(call(&hedger, &Two, [SLOW, FAST]).await.0.second, Second::Sent);
}

/// As many instances as it says, asked one after another.
struct Many(usize, RefCell<Vec<usize>>);

impl Pool for Many {
    type Instance = usize;

    fn pick(&self) -> Option<usize> {
        (self.0 > 0).then_some(0)
    }

    /// Careless: it offers the very instance that is taken.
    fn pick_other(&self, taken: &usize) -> Option<usize> {
        self.1.borrow_mut().push(*taken);
        Some(*taken)
    }
}

#[tokio::test(start_paused = true)]
async fn the_copy_never_goes_to_the_same_instance() {
    let hedger = Hedger::new(unlimited(), 1).unwrap();
    let pool = Many(1, RefCell::default());
    let (finished, took, _) = call(&hedger, &pool, [SLOW, FAST]).await;
    assert_eq!(finished.second, Second::Denied(Denial::NoOtherInstance));
    assert_eq!(took, ms(300));
    assert_eq!(pool.1.take(), [0]);
    assert_eq!(hedger.counts().denied_without_other, 1);
}

#[tokio::test(start_paused = true)]
async fn without_instances_there_is_nobody_to_ask() {
    let hedger = Hedger::new(unlimited(), 1).unwrap();
    let (finished, ..) = call(&hedger, &Many(0, RefCell::default()), [FAST, FAST]).await;
    assert_eq!(finished.result, Err(CallError::NoInstance));
}

#[test]
fn a_policy_that_contradicts_itself_is_refused() {
    let refused = |policy| Hedger::new(policy, 1).unwrap_err();
    assert_eq!(refused(Policy::after(Duration::ZERO)), PolicyError::NoDelay);
    let deadline = Policy { deadline: Some(DELAY), ..Policy::after(DELAY) };
    assert_eq!(refused(deadline), PolicyError::DeadlineWithinDelay { deadline: DELAY, delay: DELAY });
}
