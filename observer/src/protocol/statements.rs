//! Prepared statements of one connection: what a name or number stands for.

use std::collections::VecDeque;

use super::vocabulary::Word;

/// How many statements are remembered a connection; the oldest goes first.
pub(super) const LIMIT: usize = 64;

/// The statements of one connection, by a number: the statement's own, or a hash of its name.
#[derive(Debug, Default)]
pub(super) struct Statements {
    entries: VecDeque<(u64, Word)>,
}

impl Statements {
    /// What is known about a statement.
    pub(super) fn get(&self, key: u64) -> Option<Word> {
        self.entries.iter().rev().find(|entry| entry.0 == key).map(|entry| entry.1)
    }

    /// Remembers a statement, in place of another of the same key.
    pub(super) fn insert(&mut self, key: u64, class: Word) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.0 == key) {
            entry.1 = class;
            return;
        }
        if self.entries.len() >= LIMIT {
            self.entries.pop_front();
        }
        self.entries.push_back((key, class));
    }

    /// Forgets a statement.
    pub(super) fn remove(&mut self, key: u64) {
        self.entries.retain(|entry| entry.0 != key);
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}
