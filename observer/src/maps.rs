//! Maps for what is looked up for every exchange.
//!
//! The standard library's hasher took a quarter of what an exchange costs in user space. This one is seeded anew for every
//! map, and what a stranger's traffic can put into one is bounded: keys made to collide would cost time, not memory.

use std::{borrow::Borrow, hash::Hash};

use foldhash::fast::RandomState;
use lru::LruCache;

/// A hash map.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
/// A hash map that keeps the order of insertion.
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, RandomState>;
/// A set that keeps the order of insertion.
pub(crate) type IndexSet<T> = indexmap::IndexSet<T, RandomState>;

/// A map that holds at most so many entries: beyond them it forgets what was used the longest ago.
#[derive(Debug)]
pub(crate) struct Recent<K: Hash + Eq, V, const MOST: usize>(LruCache<K, V, RandomState>);

impl<K: Hash + Eq, V, const MOST: usize> Default for Recent<K, V, MOST> {
    fn default() -> Self {
        // A bounded one would take the memory of all entries at once.
        Self(LruCache::unbounded_with_hasher(RandomState::default()))
    }
}

impl<K: Hash + Eq, V, const MOST: usize> Recent<K, V, MOST> {
    /// Keeps an entry, in place of an older one of the same key, and returns another one that it forgets for it.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<(K, V)> {
        self.0.put(key, value);
        self.forget()
    }

    /// What is kept for `key`, made anew where there is nothing. That may forget something else.
    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        K: Clone,
        V: Default,
    {
        if !self.0.contains(&key) {
            self.insert(key.clone(), V::default());
        }
        self.0.get_or_insert_mut(key, V::default)
    }

    /// What is kept for `key`; it counts as used.
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.0.get_mut(key)
    }

    /// What is kept for `key`; it does not count as used.
    pub(crate) fn peek<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.peek(key)
    }

    /// Takes an entry out.
    pub(crate) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.pop(key)
    }

    /// All that is kept.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// How many entries are kept.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn forget(&mut self) -> Option<(K, V)> {
        if self.0.len() > MOST { self.0.pop_lru() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_the_longest_ago_is_forgotten() {
        let mut recent = Recent::<u32, u32, 100>::default();
        for number in 0..10_000 {
            let forgotten = recent.insert(number, number);
            assert_eq!(recent.get(&0).copied(), Some(0), "used all the time");
            assert_eq!(
                forgotten,
                number.checked_sub(99).filter(|&oldest| oldest > 0).map(|oldest| (oldest, oldest))
            );
        }
        assert_eq!(recent.len(), 100);
        assert!((9_901..10_000).all(|number| recent.peek(&number) == Some(&number)));
        *recent.get_or_default(10_000) = 1;
        assert_eq!((recent.peek(&9_901), recent.peek(&10_000), recent.len()), (None, Some(&1), 100));
    }
}
