//! The header fields that were sent before (RFC 7541, section 2.3.2).
//!
//! Whatever the sender's table holds, and whatever size it has, the field at index *i* is the one that was added *i*
//! additions ago: only the oldest are ever dropped, and a field that is too large to be added drops all others
//! (section 4.4). So of a table that was not seen from the start, what was added since is certain.

use std::collections::VecDeque;

/// What an entry counts beyond its text (section 4.1), in bytes.
const OVERHEAD: usize = 32;

/// Bytes that the table may grow to before any other size is agreed on (RFC 9113, section 6.5.2).
const DEFAULT_SIZE: usize = 4096;

/// Bytes that the table may be told to grow to.
///
/// The sender says how much of what the receiver allows it will use, in the header block itself (section 4.2), so an
/// onlooker does not have to follow SETTINGS. This bound, which no common implementation exceeds, only keeps it from
/// holding more than it wants to.
pub(super) const LARGEST_SIZE: usize = 64 * 1024;

/// One field: `name` bytes and then `value` bytes of [`DynamicTable::text`], from `begin`.
#[derive(Clone, Copy, Debug)]
struct Entry {
    begin: usize,
    name: usize,
    value: usize,
    /// Its name refers to a field that is not known.
    hidden: bool,
}

/// What there is at an index.
#[derive(Debug)]
pub(super) enum Found<'a> {
    /// A field.
    Field(&'a [u8], &'a [u8]),
    /// A field that is not known.
    Hidden,
    /// The sender has no such field.
    Nothing,
}

impl Entry {
    const fn size(&self) -> usize {
        self.name + self.value + OVERHEAD
    }
}

/// A queue of fields. The texts lie one behind the other in one buffer, so that nothing is allocated once that has
/// its size.
#[derive(Debug)]
pub(super) struct DynamicTable {
    /// The newest at the back.
    entries: VecDeque<Entry>,
    text: Vec<u8>,
    /// As section 4.1 counts.
    size: usize,
    maximum: usize,
    /// Whether all of the sender's table is in this one.
    whole: bool,
}

impl DynamicTable {
    /// The empty table that every connection begins with.
    pub(super) const fn new() -> Self {
        Self { entries: VecDeque::new(), text: Vec::new(), size: 0, maximum: DEFAULT_SIZE, whole: true }
    }

    /// Forgets everything: what the sender's table holds, and its size, are unknown.
    pub(super) fn lose(&mut self) {
        self.maximum = LARGEST_SIZE;
        self.shrink(0);
        self.whole = false;
    }

    /// Whether every field can be found.
    #[cfg(test)]
    pub(super) const fn is_whole(&self) -> bool {
        self.whole
    }

    /// What is at an index from 0, which is the newest.
    pub(super) fn get(&self, index: usize) -> Found<'_> {
        let position = index.checked_add(1).and_then(|index| self.entries.len().checked_sub(index));
        match position.and_then(|position| self.entries.get(position)) {
            Some(entry) if entry.hidden => Found::Hidden,
            Some(entry) => {
                let text = self.text.get(entry.begin..).unwrap_or_default();
                let (name, rest) = text.split_at_checked(entry.name).unwrap_or_default();
                Found::Field(name, rest.get(..entry.value).unwrap_or_default())
            }
            None if self.whole => Found::Nothing,
            None => Found::Hidden,
        }
    }

    /// Adds a field, for which the oldest ones make room. One that is larger than the table empties it (section 4.4).
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        self.add(name, value, false);
    }

    /// Adds a field whose name is not known.
    pub(super) fn insert_hidden(&mut self) {
        self.add(&[], &[], true);
    }

    fn add(&mut self, name: &[u8], value: &[u8], hidden: bool) {
        let entry = Entry { begin: 0, name: name.len(), value: value.len(), hidden };
        if entry.size() > self.maximum {
            self.shrink(0);
            return;
        }
        self.shrink(self.maximum - entry.size());
        self.compact();
        self.size += entry.size();
        self.entries.push_back(Entry { begin: self.text.len(), ..entry });
        self.text.extend_from_slice(name);
        self.text.extend_from_slice(value);
    }

    /// Sets the size that the sender keeps to from now on (section 4.3).
    pub(super) fn resize(&mut self, maximum: usize) {
        if maximum < OVERHEAD {
            self.whole = true; // nothing fits into it
        } else if maximum > LARGEST_SIZE {
            self.whole = false;
        }
        self.maximum = maximum.min(LARGEST_SIZE);
        self.shrink(self.maximum);
    }

    /// Drops the oldest fields until the size is no more than this.
    fn shrink(&mut self, size: usize) {
        while self.size > size
            && let Some(entry) = self.entries.pop_front()
        {
            self.size -= entry.size();
        }
    }

    /// Moves the texts to the front of the buffer once the dropped ones before them are the larger part.
    fn compact(&mut self) {
        let dropped = self.entries.front().map_or(self.text.len(), |entry| entry.begin);
        if dropped > self.text.len() / 2 {
            self.text.drain(..dropped);
            for entry in &mut self.entries {
                entry.begin -= dropped;
            }
        }
    }

    /// Bytes of memory in use for texts.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.text.len()
    }
}
