//! What the lab can be told to do, and what may rightly be said about it.

use observer::{
    analysis::model::{Action, Cause},
    demo::{self, Wire},
};

use crate::{case::Hedging, table::word};

/// One cause in one protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// What is made to happen.
    pub(super) cause: demo::Cause,
    /// What client and replicas speak.
    pub(super) wire: Wire,
    /// The causes that may be named, the best one first.
    pub(super) causes: &'static [Cause],
    /// The actions that may be advised, the best one first.
    pub(super) actions: &'static [Action],
    /// What is right about second copies.
    pub(super) hedging: Hedging,
}

impl Case {
    /// Every cause in both protocols.
    pub(super) fn all() -> Vec<Self> {
        let both = |cause| [Wire::Http1, Wire::Grpc].map(|wire| Self::of(cause, wire));
        demo::Cause::ALL.into_iter().flat_map(both).collect()
    }

    fn of(cause: demo::Cause, wire: Wire) -> Self {
        use Action::{Canary, DoNotHedge, Eject, Hedge};
        let (causes, actions, hedging): (&[_], &[_], _) = match cause {
            // What is asked for can be seen in both protocols, but all of it is of one class.
            demo::Cause::Independent => {
                (&[Cause::Independent, Cause::IndependentOrRequest], &[Hedge, Canary], Hedging::Remedy)
            }
            demo::Cause::Instance => (&[Cause::Instance], &[Eject], Hedging::Possible),
            demo::Cause::Shared => (&[Cause::Shared], &[DoNotHedge], Hedging::Forbidden),
            // Behind every burst the queues are still long: where that is half of the time, the median is as well.
            demo::Cause::Saturated => {
                (&[Cause::Saturated, Cause::NoTail], &[DoNotHedge, Action::None], Hedging::Forbidden)
            }
            // Of many calls on one connection nobody but the client knows when it looked at which: the probes see
            // answers in time.
            demo::Cause::Caller if wire == Wire::Grpc => {
                (&[Cause::Caller, Cause::NoTail], &[DoNotHedge, Action::None], Hedging::Forbidden)
            }
            demo::Cause::Caller => (&[Cause::Caller], &[DoNotHedge], Hedging::Forbidden),
            // The forwarder acknowledges what it holds, so that no counter shows it: what is left is latency, of
            // single connections, for a while at a time. A copy really has a path of its own.
            demo::Cause::Network => (
                &[
                    Cause::Network,
                    Cause::Independent,
                    Cause::IndependentOrRequest,
                    Cause::Mixed,
                    Cause::Shared,
                ],
                &[Hedge, Canary, DoNotHedge],
                Hedging::Possible,
            ),
            demo::Cause::Request => (&[Cause::Request], &[DoNotHedge], Hedging::Forbidden),
            demo::Cause::NoTail => (&[Cause::NoTail], &[Action::None], Hedging::Forbidden),
        };
        Self { cause, wire, causes, actions, hedging }
    }

    /// As on the command line.
    pub(super) fn protocol(&self) -> String {
        word(&self.wire)
    }

    /// What it is called: a cause and a protocol.
    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.cause, self.protocol())
    }

    /// Whether this cause may be named.
    pub(super) fn may_be(&self, cause: &str) -> bool {
        self.causes.iter().any(|defensible| word(defensible) == cause)
    }

    /// Whether this may be advised.
    pub(super) fn may_advise(&self, action: &str) -> bool {
        self.actions.iter().any(|defensible| word(defensible) == action)
    }
}
