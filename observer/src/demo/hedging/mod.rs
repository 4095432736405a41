//! A hedging client for any asynchronous call: what a second copy of late requests does, and what keeps it harmless.
//!
//! ```text
//! primary ──┬── answers within the delay ───────────────────────────────▶ unhedged
//!           │
//!           └── late, or failed ── overload? other instance? chance? budget?
//!                                        │ no                  │ yes
//!                                        ▼                     ▼
//!                                  wait on: unhedged     copy: first success wins, the other is cancelled: hedged
//! ```
//!
//! It knows neither sockets nor protocols: a call is a function from an instance to a future, cancelled by dropping
//! that future. The rules, each in the place where it acts:
//!
//! - The copy leaves only after [`Policy::delay`], so that what is fast is never sent twice.
//! - The copies are at most a share of the *primaries*, however slow the instances become: a token bucket ([`Budget`]),
//!   which begins empty. A bound on chance or on failures alone would let hedges feed the queue that causes them.
//! - The copy goes to another instance ([`Pool::pick_other`]), or nowhere.
//! - Nothing is hedged while too much is in flight ([`Policy::overload`]).
//! - A failure ends nothing while a copy may still succeed.
//! - Only what may be executed twice can be called at all ([`Idempotent`]).
//! - Hedged and unhedged requests are two populations and are counted apart ([`Counts`]).

mod budget;
mod counts;
mod finished;
mod idempotent;
mod policy;
mod pool;
mod race;

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

pub use crate::quantity::Share;
use budget::TokenBucket;
pub use counts::{Counts, Population};
pub use finished::{Attempt, CallError, Denial, Finished, Second};
pub use idempotent::Idempotent;
pub use policy::{Budget, Policy, PolicyError};
pub use pool::Pool;
use race::first_success;
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use tokio::time::timeout;

/// Makes calls under one [`Policy`]. Shared by all callers of one service: they share its budget.
#[derive(Debug)]
pub struct Hedger {
    policy: Policy,
    in_flight: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    bucket: TokenBucket,
    chance: SmallRng,
    counts: Counts,
}

impl Hedger {
    /// A client under `policy`; `seed` decides the policy's chances.
    ///
    /// # Errors
    ///
    /// Where the policy contradicts itself: see [`PolicyError`].
    pub fn new(policy: Policy, seed: u64) -> Result<Self, PolicyError> {
        policy.check()?;
        let state = State {
            bucket: TokenBucket::new(policy.budget),
            chance: SmallRng::seed_from_u64(seed),
            counts: Counts::default(),
        };
        Ok(Self { policy, in_flight: AtomicUsize::new(0), state: Mutex::new(state) })
    }

    /// What was called so far.
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// Calls an instance of `pool`, and a second one if the first is late or fails.
    ///
    /// `call` is asked for a future at most twice. Dropping the future that this returns cancels both copies.
    pub async fn call<P, F, C, A, E>(&self, pool: &P, call: Idempotent<F>) -> Finished<A, E>
    where
        P: Pool,
        F: Fn(P::Instance, Attempt) -> C,
        C: Future<Output = Result<A, E>>,
    {
        let present = InFlight::enter(&self.in_flight);
        self.state().note_primary();
        let call = call.into_inner();
        let mut second = Second::NotNeeded;
        let race = self.race(pool, &call, &mut second);
        let result = match self.policy.deadline {
            Some(deadline) => timeout(deadline, race).await.unwrap_or(Err(CallError::Expired)),
            None => race.await,
        };
        drop(present);
        let finished = Finished { result, second };
        self.state().counts.finish(&finished);
        finished
    }

    async fn race<P, F, C, A, E>(
        &self,
        pool: &P,
        call: &F,
        second: &mut Second,
    ) -> Result<(A, Attempt), CallError<E>>
    where
        P: Pool,
        F: Fn(P::Instance, Attempt) -> C,
        C: Future<Output = Result<A, E>>,
    {
        let instance = pool.pick().ok_or(CallError::NoInstance)?;
        let mut primary = Box::pin(call(instance.clone(), Attempt::Primary));
        let failure = match timeout(self.policy.delay, &mut primary).await {
            Ok(Ok(answer)) => return Ok((answer, Attempt::Primary)),
            // What failed cannot answer any more. The copy need not wait for the delay, but for everything else.
            Ok(Err(failure)) => Some(failure),
            Err(_) => None,
        };
        let hedge = match self.permit(pool, &instance) {
            Ok(other) => {
                *second = Second::Sent;
                Some(call(other, Attempt::Hedge))
            }
            Err(denial) => {
                *second = Second::Denied(denial);
                None
            }
        };
        match (failure, hedge) {
            (None, Some(hedge)) => first_success(primary, Box::pin(hedge)).await,
            (None, None) => primary.await.map(|answer| (answer, Attempt::Primary)),
            (Some(_), Some(hedge)) => hedge.await.map(|answer| (answer, Attempt::Hedge)),
            (Some(failure), None) => Err(failure),
        }
        .map_err(CallError::Failed)
    }

    /// Where the copy may go, if it may go. The budget is asked last: what is denied otherwise costs no token.
    fn permit<P: Pool>(&self, pool: &P, taken: &P::Instance) -> Result<P::Instance, Denial> {
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        if self.policy.overload.is_some_and(|limit| in_flight > limit.get()) {
            return Err(Denial::Overload);
        }
        let other = pool.pick_other(taken).filter(|other| other != taken).ok_or(Denial::NoOtherInstance)?;
        let mut state = self.state();
        if !state.chance.random_bool(self.policy.probability.as_fraction()) {
            return Err(Denial::Chance);
        }
        if !state.bucket.take() {
            return Err(Denial::Budget);
        }
        state.counts.hedges += 1;
        Ok(other)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held, and every state of the counters is a valid one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn note_primary(&mut self) {
        self.counts.primaries += 1;
        self.bucket.refill();
    }
}

/// One request that is under way, however it ends.
struct InFlight<'a>(&'a AtomicUsize);

impl<'a> InFlight<'a> {
    fn enter(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
