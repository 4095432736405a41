//! When a request gets a second copy.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use jiff::fmt::serde::unsigned_duration::friendly::compact::{optional as optional_text, required as text};
use serde::{Deserialize, Serialize};

use super::Share;

/// When a request gets a second copy, and how many may.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// How long the primary is waited for: near the p95 of this very call while it is healthy.
    ///
    /// Of hedged requests no answer of the copy can come before it. Below the median, most requests would be sent
    /// twice.
    #[serde(with = "text")]
    pub delay: Duration,
    /// The chance that a late request is hedged at all.
    ///
    /// Below 1 it lets a delay be shorter than the budget alone would allow (`SingleR` of Kaler, He and Elnikety, SPAA
    /// 2017).
    pub probability: Share,
    /// How many copies there may be.
    pub budget: Budget,
    /// Nothing is hedged while more requests than this are in flight: then slowness is a queue, and copies feed it.
    pub overload: Option<NonZeroUsize>,
    /// How long the whole request may take, copies included.
    #[serde(with = "optional_text")]
    pub deadline: Option<Duration>,
}

/// How many copies there may be, as a rate: at most `per_primary` × primaries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// So many copies for each primary.
    pub per_primary: Share,
    /// So many copies at most leave at once after a time without.
    pub burst: NonZeroU32,
}

impl Policy {
    /// Hedges after `delay`, at most one request in twenty, ten at once.
    pub const fn after(delay: Duration) -> Self {
        const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(9);
        Self {
            delay,
            probability: Share::ALL,
            budget: Budget { per_primary: Share::percent(5), burst: BURST },
            overload: None,
            deadline: None,
        }
    }

    /// Whether it makes sense.
    pub(super) fn check(&self) -> Result<(), PolicyError> {
        if self.delay.is_zero() {
            return Err(PolicyError::NoDelay);
        }
        match self.deadline {
            Some(deadline) if deadline <= self.delay => {
                Err(PolicyError::DeadlineWithinDelay { deadline, delay: self.delay })
            }
            _ => Ok(()),
        }
    }
}

/// A policy contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Every request would be sent twice.
    #[error("a hedge without delay doubles the load: use a delay near the p95 of the call")]
    NoDelay,
    /// No copy could ever be sent.
    #[error(
        "no hedge leaves before a deadline of {deadline:?} with a delay of {delay:?}: use a longer deadline"
    )]
    DeadlineWithinDelay {
        /// The deadline.
        deadline: Duration,
        /// The delay.
        delay: Duration,
    },
}
