//! What does not fit into the ledger's bounds, kept together.

use std::{collections::HashSet, hash::Hash};

use super::tally::Tally;
use crate::exchange::Exchange;

/// Beyond this many, names are no longer told apart.
const NAMES: usize = 1_000;

/// A bucket for everything that got no entry of its own.
#[derive(Clone, Debug)]
pub struct Overflow<Name> {
    /// What the bucket holds.
    pub tally: Tally,
    names: HashSet<Name>,
}

impl<Name> Default for Overflow<Name> {
    fn default() -> Self {
        Self { tally: Tally::default(), names: HashSet::new() }
    }
}

impl<Name: Eq + Hash> Overflow<Name> {
    /// Takes in an exchange of `name`.
    pub(super) fn record(&mut self, name: Name, exchange: &Exchange) {
        self.tally.record(exchange);
        if self.names.len() < NAMES {
            self.names.insert(name);
        }
    }

    /// At least how many distinct names it stands for.
    pub fn names_at_least(&self) -> usize {
        self.names.len()
    }
}
