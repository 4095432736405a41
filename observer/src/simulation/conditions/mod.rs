//! What makes instances, paths and clients slow, beside their load.
//!
//! Conditions do not depend on the policy: periods, classes and costs are the same whatever copies are sent.

mod check;
mod dice;
mod path;
mod prepared;
mod struck;
mod timetable;

use observer_common::Nanoseconds;

pub use self::check::ConditionsError;
pub(super) use self::{
    dice::{Dice, Purpose},
    path::Path,
    prepared::{Attempt, Prepared},
    timetable::Timetable,
};
use super::{Rate, ServiceTime, Share};

/// Causes of slowness. By default there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Kinds of requests. What their shares leave over has no class.
    pub classes: Vec<Class>,
    /// Requests that are slow wherever they go, of any class.
    pub hidden_cost: Option<HiddenCost>,
    /// What strikes whom, and when.
    pub faults: Vec<Fault>,
    /// Requests of other clients.
    pub others: Vec<OtherLoad>,
    /// How fast each instance is, 1 being normal; all are normal if it is empty.
    pub speeds: Vec<f64>,
    /// Which part of the calls each instance gets, relative to the others; even if it is empty. Only with
    /// [`Balancing::Random`](super::Balancing::Random), and not for other clients.
    pub weights: Vec<f64>,
    /// Where so many copies wait at an instance, it refuses further ones as if it were [`Effect::Down`].
    pub most_waiting: Option<u32>,
}

/// A kind of requests, which the observer can tell from others. All copies of a request are of its class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// What it is called.
    pub name: &'static str,
    /// How many of the requests.
    pub share: Share,
    /// By what their service times are multiplied.
    pub factor: f64,
}

/// Some requests cost more, whatever instance serves them, and nothing tells which.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HiddenCost {
    /// How many of the requests.
    pub share: Share,
    /// By what their service times are multiplied.
    pub factor: f64,
}

/// Something that happens to instances, to the paths there, or to the client.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Whom it strikes.
    pub scope: Scope,
    /// When it does. Nothing strikes after the time in which requests arrive.
    pub when: When,
    /// What it does.
    pub effect: Effect,
}

/// Whom a fault strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All instances at the same time.
    All,
    /// This instance.
    One(u32),
    /// These instances at the same time.
    Some(Vec<u32>),
    /// Every instance at times of its own.
    EachAlone,
    /// So many instances in a row (a host) at the same time, each such group at times of its own.
    Groups(u32),
    /// One after the other, each in its turn (a rolling restart).
    InTurn,
}

/// When something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// As long as requests arrive.
    Always,
    /// Once.
    Window {
        /// From so long after the start on.
        from: Nanoseconds,
        /// Until then.
        to: Nanoseconds,
    },
    /// Again and again, at a random moment first.
    Periodic {
        /// From one beginning to the next.
        every: Nanoseconds,
        /// How long each time.
        length: Nanoseconds,
    },
    /// At random; both times are exponentially distributed.
    Random {
        /// How long it does not happen, on average.
        gap: Nanoseconds,
        /// How long it does, on average.
        length: Nanoseconds,
    },
}

/// What a fault does while it strikes.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The instance does not work: what it serves is frozen, what arrives waits.
    Pause,
    /// The instance needs so many times as long.
    Slower(f64),
    /// Some of the executions that begin then first wait for something else, and keep their slot meanwhile.
    Dependency {
        /// How many of them.
        share: Share,
        /// How long they wait.
        time: ServiceTime,
        /// Whether it is decided for each request, so that all its copies wait as long, or for each execution.
        by_request: bool,
    },
    /// The instance accepts and does not answer. At the end the connections of what it then holds are reset; if that
    /// is the end of the time in which requests arrive, they stay open, and each is given up after as long as that
    /// time.
    Hang,
    /// What arrives is not served but refused: its answer is a failure. What is being served is not affected.
    Down {
        /// After this.
        refuse_after: Nanoseconds,
    },
    /// Some of the copies sent then, or their answers, are lost and sent again.
    Loss {
        /// How many of them, and of those that are sent again.
        share: Share,
        /// After this; each further time it is twice as long.
        timeout: Nanoseconds,
    },
    /// The way there and back takes longer for copies sent then.
    RoundTrip {
        /// By this, half of it on each way.
        added: Nanoseconds,
    },
    /// The client does not read: answers that arrive are read at the end. It still sends. The scope is ignored.
    LateReader,
}

/// Requests of clients that nobody observes. They are served by the same instances, chosen by the same balancing, and
/// neither hedged nor counted. They are of the same classes and cost as much as the client's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherLoad {
    /// When they arrive.
    pub when: When,
    /// How many then, independently of each other.
    pub rate: Rate,
}
