//! Counters of buckets, in pages that exist only where something was counted.
//!
//! A plain histogram from 1 ns to 1 s takes 86 kB even with 32-bit counters; a thousand instances with several of them
//! would not fit into the memory that the observer allows itself. Latencies crowd into few octaves and most buckets
//! stay small, so pages of 32 counters with 16 bits take a seventh of that.

use std::collections::HashMap;

use super::bucket::{BUCKETS, Bucket};

const PAGE: usize = 32;
const DIRECTORY: usize = BUCKETS / PAGE;

/// A counter for every bucket.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    /// For every page its place in `stored`, counted from one; zero where there is none.
    directory: Box<[u16; DIRECTORY]>,
    stored: Vec<[u16; PAGE]>,
    /// How often a bucket's counter went past 65,535.
    carried: HashMap<Bucket, u64>,
}

impl Pages {
    /// Counters that are all zero.
    pub(super) fn new() -> Self {
        Self { directory: Box::new([0; DIRECTORY]), stored: Vec::new(), carried: HashMap::new() }
    }

    /// Counts one more in a bucket.
    pub(super) fn increment(&mut self, bucket: Bucket) {
        let (page, within) = (bucket.position() / PAGE, bucket.position() % PAGE);
        if self.directory[page] == 0 {
            self.add_page(page);
        }
        let counter = &mut self.stored[usize::from(self.directory[page]) - 1][within];
        *counter = counter.wrapping_add(1);
        if *counter == 0 {
            *self.carried.entry(bucket).or_default() += 1;
        }
    }

    #[cold]
    #[expect(clippy::cast_possible_truncation, reason = "there are 1,056 pages")]
    fn add_page(&mut self, page: usize) {
        if self.stored.len() == self.stored.capacity() {
            // Doubling would waste up to half of what the pages save.
            self.stored.reserve_exact(self.stored.len() / 4 + 4);
        }
        self.stored.push([0; PAGE]);
        self.directory[page] = self.stored.len() as u16;
    }

    /// Sets all counters to zero and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.stored.fill([0; PAGE]);
        self.carried.clear();
    }

    /// The buckets that counted something, each with a count; one that was carried comes twice.
    pub(super) fn counts(&self) -> impl Iterator<Item = (Bucket, u64)> {
        let counted = self.directory.iter().enumerate().filter(|(_, place)| **place != 0);
        let direct = counted.flat_map(|(page, place)| {
            let counters = self.stored[usize::from(*place) - 1];
            (0..PAGE).map(move |within| (Bucket::at(page * PAGE + within), u64::from(counters[within])))
        });
        let carried = self.carried.iter().map(|(bucket, times)| (*bucket, times << u16::BITS));
        direct.filter(|(_, count)| *count != 0).chain(carried)
    }
}

#[cfg(test)]
mod tests {
    use observer_common::Nanoseconds;

    use super::*;

    #[test]
    fn a_counter_that_overflows_is_carried() {
        let mut pages = Pages::new();
        let bucket = Bucket::of(Nanoseconds(5_000));
        for _ in 0..200_000 {
            pages.increment(bucket);
        }
        let total: u64 = pages.counts().map(|(_, count)| count).sum();
        assert_eq!(total, 200_000);
    }

    #[test]
    fn cleared_counters_count_from_zero() {
        let mut pages = Pages::new();
        let bucket = Bucket::of(Nanoseconds(5_000));
        pages.increment(bucket);
        pages.clear();
        assert_eq!(pages.counts().count(), 0);
        pages.increment(bucket);
        assert_eq!(pages.counts().collect::<Vec<_>>(), [(bucket, 1)]);
    }
}
