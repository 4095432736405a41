//! Places for things that come and go, so that nothing is allocated for each.

use std::{
    cmp::Ordering,
    marker::PhantomData,
    num::NonZeroU32,
    ops::{Index, IndexMut},
};

/// Which place something has in an [`Arena`].
#[derive(Debug)]
pub(super) struct Id<T> {
    /// From one on: then there is room for "none", and more of what is under way fits into a processor's cache.
    place: NonZeroU32,
    of: PhantomData<fn() -> T>,
}

// Derived, these would ask the same of `T`.
impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl<T> Eq for Id<T> {}

impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }
}

/// Things with places, which are used again.
#[derive(Debug)]
pub(super) struct Arena<T> {
    things: Vec<T>,
    free: Vec<Id<T>>,
}

impl<T> Arena<T> {
    pub(super) const fn new() -> Self {
        Self { things: Vec::new(), free: Vec::new() }
    }

    /// Gives something a place.
    #[expect(clippy::cast_possible_truncation, reason = "2^32 things do not fit into memory")]
    pub(super) fn add(&mut self, thing: T) -> Id<T> {
        if let Some(id) = self.free.pop() {
            self[id] = thing;
            return id;
        }
        let place = NonZeroU32::MIN.saturating_add(self.things.len() as u32);
        self.things.push(thing);
        Id { place, of: PhantomData }
    }

    /// Lets a place be used again; nothing may refer to it any more.
    pub(super) fn remove(&mut self, id: Id<T>) {
        self.free.push(id);
    }

    /// Every place, also those of things that are no more.
    #[expect(clippy::cast_possible_truncation, reason = "2^32 things do not fit into memory")]
    pub(super) fn places(&self) -> impl Iterator<Item = Id<T>> + use<T> {
        let before = 0..self.things.len() as u32;
        before.map(|before| Id { place: NonZeroU32::MIN.saturating_add(before), of: PhantomData })
    }

    /// How many things there are.
    pub(super) const fn len(&self) -> usize {
        self.things.len() - self.free.len()
    }
}

impl<T> Index<Id<T>> for Arena<T> {
    type Output = T;

    fn index(&self, id: Id<T>) -> &T {
        &self.things[id.place.get() as usize - 1]
    }
}

impl<T> IndexMut<Id<T>> for Arena<T> {
    fn index_mut(&mut self, id: Id<T>) -> &mut T {
        &mut self.things[id.place.get() as usize - 1]
    }
}
