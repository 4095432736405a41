//! What a probe beside the client sees.

use observer_common::{Nanoseconds, Outcome, Timestamp};

use crate::exchange::{Exchange, NameId};

/// What a probe beside the client sees of one copy of a call. Copies are told when they are over, in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Which call of the client it belongs to, in order of their beginning: with one call a request, which request.
    pub request: u64,
    /// Which copy of it: 0 the first.
    pub attempt: u32,
    /// Where it was sent.
    pub instance: u32,
    /// The place of its class in [`Conditions::classes`](super::Conditions::classes).
    pub class: Option<usize>,
    /// When it was sent, since the start.
    pub sent: Nanoseconds,
    /// How long until its answer could be read, or how long it was waited for.
    pub latency: Nanoseconds,
    /// How long the answer then lay unread.
    pub read_lag: Nanoseconds,
    /// How it ended. Where the instance refuses it, that is an answer.
    pub outcome: Outcome,
    /// Whether the answer is a failure.
    pub failed: bool,
    /// How often the request or the answer was sent again.
    pub retransmits: u32,
    /// The round trip when it was sent, as TCP measures it.
    pub srtt: Nanoseconds,
}

/// What the parts of an exchange are called.
#[derive(Clone, Copy, Debug)]
pub struct SeenNames {
    /// The service: "simulated".
    pub service: NameId,
    /// The instance's address.
    pub instance: NameId,
    /// The request's class.
    pub class: Option<NameId>,
    /// The status of an answer that is a failure: "503".
    pub unavailable: NameId,
}

/// Whether a client logs which copies belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyIds {
    /// It does, in the request and attempt of each exchange.
    Logged,
    /// Nothing tells a hedge from another request.
    Anonymous,
}

impl Seen {
    /// The same as an exchange that a probe recorded.
    pub const fn exchange(&self, names: &SeenNames, ids: CopyIds) -> Exchange {
        let answered = matches!(self.outcome, Outcome::Ok);
        let logged = matches!(ids, CopyIds::Logged);
        let start = Timestamp(self.sent.0);
        Exchange {
            complete: if answered { Some(self.latency) } else { None },
            sent: Some(Nanoseconds(0)),
            read_lag: if answered { Some(self.read_lag) } else { None },
            outcome: self.outcome,
            class: names.class,
            srtt: Some(self.srtt),
            retransmits: Some(self.retransmits),
            status: if self.failed { Some(names.unavailable) } else { None },
            failed: self.failed,
            request: if logged { Some(self.request) } else { None },
            attempt: if logged { Some(self.attempt) } else { None },
            ..Exchange::new(start, names.service, names.instance, self.latency)
        }
    }
}
