//! What one line says, before names are given to it.

use std::collections::BTreeSet;

use observer_common::{Nanoseconds, Outcome, Timestamp};

use super::lack::Lack;
use crate::printable::excerpt;

/// Names of backends and services are shorter than this; what is longer is something else.
const LONGEST_NAME: usize = 255;

/// One try of a backend.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// When the request was sent, in wall-clock time.
    pub(super) start: Timestamp,
    /// Until the first byte of the response, or how long was waited.
    pub(super) latency: Nanoseconds,
    /// Until the last byte of the response.
    pub(super) complete: Option<Nanoseconds>,
    /// Instances that are used interchangeably; nothing where the log does not say.
    pub(super) service: Option<String>,
    /// The backend.
    pub(super) instance: String,
    pub(super) outcome: Outcome,
    /// What kind of request it was.
    pub(super) class: Option<String>,
    /// What the backend answered; nothing where it did not.
    pub(super) status: Option<String>,
    pub(super) failed: bool,
    pub(super) request_bytes: Option<u64>,
    pub(super) response_bytes: Option<u64>,
}

impl Entry {
    /// Refuses what contradicts itself, and names that cannot be names: each is kept for as long as the program runs.
    pub(super) fn check(&self) -> Result<(), Bad> {
        if self.complete.is_some_and(|complete| complete < self.latency) {
            let found = format!("{} ns", self.latency.0);
            return Err(Bad::new(&found, "a first byte of the response that is not later than the last one"));
        }
        let names = [Some(&self.instance), self.service.as_ref()];
        match names.into_iter().flatten().find(|name| name.is_empty() || name.len() > LONGEST_NAME) {
            Some(name) => Err(Bad::new(name, "a name of 1 to 255 characters")),
            None => Ok(()),
        }
    }
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A request that was sent to a backend.
    Tried,
    /// A request that was sent to none: answered by the proxy itself, refused, or abandoned before.
    NotTried,
    /// Something else than a request, which such logs also hold.
    Other,
}

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The tries of the line at hand.
    pub(super) entries: Vec<Entry>,
    /// What any line lacked.
    pub(super) lacks: BTreeSet<Lack>,
}

/// Why a line cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bad {
    /// What was found, in part.
    pub(super) found: String,
    /// What it has to be.
    pub(super) expected: &'static str,
}

impl Bad {
    pub(super) fn new(found: &str, expected: &'static str) -> Self {
        Self { found: excerpt(found).into_owned(), expected }
    }
}
