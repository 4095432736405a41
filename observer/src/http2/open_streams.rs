//! The streams of a connection that are open.

use std::collections::VecDeque;

use super::stream::Stream;

/// Streams that are followed at once. Servers allow some hundred (RFC 9113, section 6.5.2, recommends at least 100).
pub(super) const MOST_STREAMS: usize = 2048;

/// Streams in the order of their ids, in which clients open them. What a stream needs lies in a slot that is used
/// again, so that nothing is allocated for each.
#[derive(Debug, Default)]
pub(super) struct OpenStreams {
    /// Id and slot, by id.
    order: VecDeque<(u32, usize)>,
    slots: Vec<Stream>,
    free: Vec<usize>,
}

impl OpenStreams {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Id of the oldest.
    pub(super) fn oldest(&self) -> Option<u32> {
        self.order.front().map(|&(id, _)| id)
    }

    /// Id of the newest.
    pub(super) fn newest(&self) -> Option<u32> {
        self.order.back().map(|&(id, _)| id)
    }

    /// A slot for a stream whose id is larger than any before. What it holds is left over from another stream.
    pub(super) fn add(&mut self, id: u32) -> Option<&mut Stream> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Stream::default());
            self.slots.len() - 1
        });
        self.order.push_back((id, slot));
        self.slots.get_mut(slot)
    }

    /// The stream, if it is open.
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Stream> {
        let position = self.position(id)?;
        let &(_, slot) = self.order.get(position)?;
        self.slots.get_mut(slot)
    }

    /// Closes a stream. What it held can be read until another one is added.
    pub(super) fn remove(&mut self, id: u32) -> Option<&Stream> {
        let (_, slot) = self.order.remove(self.position(id)?)?;
        self.free.push(slot);
        self.slots.get(slot)
    }

    /// All, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.order.iter().filter_map(|&(_, slot)| self.slots.get(slot))
    }

    fn position(&self, id: u32) -> Option<usize> {
        self.order.binary_search_by_key(&id, |&(id, _)| id).ok()
    }

    /// How many slots there are.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.slots.len()
    }
}
