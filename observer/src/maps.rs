//! Maps for what is looked up for every exchange.
//!
//! The standard library's hasher took a quarter of what an exchange costs in user space. This one is seeded anew for every
//! map, and what a stranger's traffic can put into one is bounded: keys made to collide would cost time, not memory.

use foldhash::fast::RandomState;

/// A hash map.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
/// A hash map that keeps the order of insertion.
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, RandomState>;
/// A set that keeps the order of insertion.
pub(crate) type IndexSet<T> = indexmap::IndexSet<T, RandomState>;
