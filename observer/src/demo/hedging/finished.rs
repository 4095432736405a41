//! What came of a request.

use serde::{Deserialize, Serialize};

/// Which copy of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attempt {
    /// The first.
    Primary,
    /// The second.
    Hedge,
}

impl Attempt {
    /// Its number in an exchange log: 0 the primary, 1 the hedge.
    pub const fn number(self) -> u32 {
        match self {
            Self::Primary => 0,
            Self::Hedge => 1,
        }
    }
}

/// Whether there was a second copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Second {
    /// The primary answered within the delay, or nothing could be sent at all.
    NotNeeded,
    /// It was sent.
    Sent,
    /// It was due, but not sent.
    Denied(Denial),
}

/// Why a copy that was due was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Denial {
    /// Too many requests were in flight.
    Overload,
    /// There was no other instance to send it to.
    NoOtherInstance,
    /// The policy hedges only some.
    Chance,
    /// The budget was used up.
    Budget,
}

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError<E> {
    /// Every copy that was sent failed; this is the failure of the last.
    #[error("every copy failed, the last with: {0}")]
    Failed(E),
    /// The deadline came first; all copies were cancelled.
    #[error("the deadline passed without an answer")]
    Expired,
    /// There was nobody to ask.
    #[error("there is no instance to call")]
    NoInstance,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished<A, E> {
    /// The answer and which copy gave it.
    pub result: Result<(A, Attempt), CallError<E>>,
    /// Whether there was a second copy.
    pub second: Second,
}
