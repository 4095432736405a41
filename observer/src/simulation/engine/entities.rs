//! What is under way: requests, their calls, and the copies of these.

use observer_common::Nanoseconds;

use super::arena::Id;
use crate::simulation::moment::Moment;

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

/// One copy of a call, at one instance.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) call: Id<Call>,
    pub(super) instance: u32,
    pub(super) sent: Moment,
    pub(super) service: Nanoseconds,
    pub(super) stage: Stage,
    pub(super) previous: Option<Id<Copy>>,
}

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting,
    Served,
    /// Answered, or dropped.
    Over,
}
