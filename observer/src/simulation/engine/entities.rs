//! What is under way: requests, their calls, and the copies of these.

use observer_common::Nanoseconds;

use super::{arena::Id, others::OtherCall};
use crate::simulation::{conditions::Attempt, moment::Moment};

/// What a client waits for.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) arrived: Moment,
    /// Calls without an answer.
    pub(super) waits_for: u32,
    /// Copies beyond the first of each call.
    pub(super) extra_copies: u32,
    /// Whether a call got no answer before it was given up.
    pub(super) failed: bool,
    /// Calls and events that still refer to it.
    pub(super) references: u32,
    pub(super) last_call: Option<Id<Call>>,
}

/// One of the things that a request asks for.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) request: Id<Request>,
    pub(super) caller: Caller,
    /// Whether nobody waits for it any more.
    pub(super) is_over: bool,
    /// How many copies were sent.
    pub(super) copies: u32,
    /// When its first copy began to be served.
    pub(super) begun: Option<Moment>,
    /// Copies and events that still refer to it.
    pub(super) references: u32,
    pub(super) last_copy: Option<Id<Copy>>,
    pub(super) previous: Option<Id<Call>>,
}

/// Whose call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// The client's, and which of its calls; after four billion, all have the same number.
    Client(u32),
    /// One of the other clients'.
    Other(OtherCall),
}

impl Caller {
    /// One of its call's copies, as conditions know it.
    pub(super) const fn attempt(self, number: u32) -> Attempt {
        match self {
            Self::Client(call) => Attempt { call: call as u64, number },
            Self::Other(other) => other.attempt(),
        }
    }
}

/// One copy of a call, at one instance.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) call: Id<Call>,
    pub(super) instance: u32,
    pub(super) sent: Moment,
    pub(super) service: Nanoseconds,
    pub(super) stage: Stage,
    /// Which copy of its call it is; the first is 0.
    pub(super) attempt: u32,
    /// Whether an answer may still come.
    pub(super) is_under_way: bool,
    /// Whether it was shown to whoever looks, or must not be.
    pub(super) is_told: bool,
    pub(super) previous: Option<Id<Copy>>,
}

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Travelling,
    Waiting,
    /// Begun, and waiting for something else beside those that share an instance.
    Aside,
    Served,
    /// Being served, but the connection will be reset first.
    Doomed,
    /// Answered, or dropped.
    Over,
    /// Not served, but answered with a failure.
    Refused,
    /// The connection was reset.
    Reset,
}

impl Stage {
    /// Whether its instance will have nothing to do with it any more.
    pub(super) const fn is_over(self) -> bool {
        matches!(self, Self::Over | Self::Refused | Self::Reset)
    }

    /// Whether it ended without an answer that is of use.
    pub(super) const fn is_failure(self) -> bool {
        matches!(self, Self::Refused | Self::Reset)
    }
}
