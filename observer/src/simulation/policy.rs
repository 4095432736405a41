//! What a client does about slow requests.

use std::num::NonZeroU32;

use observer_common::Nanoseconds;

use super::Share;

/// What a client does about slow requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Which copies of a call it sends, and when.
    pub tactic: Tactic,
    /// After this, a request is answered with what is there.
    pub deadline: Option<Nanoseconds>,
    /// What becomes of the copies that nobody waits for any more.
    pub cancellation: Cancellation,
}

/// Which copies of a call are sent, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tactic {
    /// One copy.
    Single,
    /// A second copy of what is late.
    Hedge(Hedge),
    /// So many copies at once, to different instances as far as there are so many.
    AtOnce {
        /// How many, the first included.
        copies: NonZeroU32,
    },
    /// Two copies that know of each other: the one that begins first lets the other be dropped, unless that has begun
    /// too. The second leaves after two messages' time, so that idle instances do not both begin.
    Tied {
        /// How long a message between instances takes.
        message: Nanoseconds,
    },
    /// A copy that is not answered in time is given up and another one sent. Each of several layers does so, and each
    /// begins anew whenever the one above it does: a call comes to as many copies as tries to the power of layers.
    Retry {
        /// How long a copy is waited for.
        timeout: Nanoseconds,
        /// How often each layer tries.
        tries: NonZeroU32,
        /// How many layers try.
        layers: NonZeroU32,
    },
}

/// A second copy of what is late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hedge {
    /// It is sent if there is no answer after this.
    pub delay: Nanoseconds,
    /// And with this probability.
    pub probability: Share,
    /// And within this budget.
    pub budget: Option<Budget>,
    /// And while a request has fewer copies than this, over all its calls.
    pub per_request: Option<NonZeroU32>,
    /// And unless more calls than this wait at an instance on average.
    pub off_above: Option<QueueDepth>,
    /// Where it is sent.
    pub target: Target,
}

impl Hedge {
    /// A second copy of everything that has no answer after `delay`.
    pub const fn after(delay: Nanoseconds) -> Self {
        Self {
            delay,
            probability: Share::ALL,
            budget: None,
            per_request: None,
            off_above: None,
            target: Target::Another,
        }
    }
}

/// A token bucket on the rate of calls: each call adds a share of a token, each hedge takes one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Hedges ÷ calls, at most. The bucket is empty at first, so this holds from the first call on.
    pub share: Share,
    /// How many tokens the bucket holds.
    pub burst: NonZeroU32,
}

/// How many calls wait, not being served yet, at an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueDepth(pub u32);

/// Where a hedge is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// To whichever instance balancing chooses; that may be the one that is late.
    Any,
    /// To an instance that no copy of this call went to.
    Another,
    /// As `Another`, and only if one has a free slot.
    Idle,
}

/// What becomes of copies that nobody waits for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancellation {
    /// They are served to the end.
    Never,
    /// They are dropped, served or not, so long after the answer.
    After(Nanoseconds),
}

/// A policy that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// More copies than is sensible to simulate.
    #[error(
        "it comes to {copies} copies of a call where {MOST_COPIES} is the most that is simulated; take fewer"
    )]
    TooManyCopies {
        /// How many.
        copies: u64,
    },
}

/// More copies of one call than this are not simulated.
pub const MOST_COPIES: u64 = 1_000;

impl Policy {
    /// A tactic without deadline or cancellation.
    pub const fn of(tactic: Tactic) -> Self {
        Self { tactic, deadline: None, cancellation: Cancellation::Never }
    }

    /// One copy of everything.
    pub const NONE: Self = Self::of(Tactic::Single);

    /// How many copies of a call it sends at most.
    pub const fn most_copies(&self) -> u64 {
        match self.tactic {
            Tactic::Single => 1,
            Tactic::Hedge(_) | Tactic::Tied { .. } => 2,
            Tactic::AtOnce { copies } => copies.get() as u64,
            Tactic::Retry { tries, layers, .. } => (tries.get() as u64).saturating_pow(layers.get()),
        }
    }

    /// Whether it can be simulated.
    pub const fn check(&self) -> Result<(), PolicyError> {
        let copies = self.most_copies();
        if copies > MOST_COPIES { Err(PolicyError::TooManyCopies { copies }) } else { Ok(()) }
    }
}
