//! What happens next.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use super::{
    arena::Id,
    entities::{Call, Copy, Request},
};
use crate::simulation::moment::Moment;

/// Something that happens at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A slot has served a copy.
    Served(Id<Copy>),
    /// An instance that shares its processor may have served a copy.
    Shared { instance: u32 },
    /// Nobody needs a copy any more, and its instance now knows.
    Cancel(Id<Copy>),
    /// The other one of two tied copies has begun, and this one's instance now knows.
    Untie(Id<Copy>),
    /// It is time to look whether a call has an answer.
    Look(Id<Call>),
    /// A request's time is up.
    Deadline(Id<Request>),
    /// A request arrives.
    Arrive,
    /// A request of another client arrives.
    ArriveOther { load: u16 },
    /// A copy that was long on its way reaches its instance.
    Reach(Id<Copy>),
    /// What a copy waited for beside its instance is there.
    Resume(Id<Copy>),
    /// An answer, a refusal or the end of a connection that was on its way reaches the client.
    Return(Id<Copy>),
    /// The client reads what has long been there.
    Read(Id<Copy>),
    /// Nothing is seen any more.
    LookAway,
}

impl Event {
    /// What comes first of what happens at the same moment: an answer that is just in time is in time, and who arrives
    /// sees the slots that have just become free.
    const fn rank(self) -> u8 {
        match self {
            Self::Served(_) | Self::Shared { .. } | Self::Return(_) | Self::Read(_) => 0,
            Self::Cancel(_) | Self::Untie(_) => 1,
            Self::Look(_) => 2,
            Self::Deadline(_) => 3,
            Self::Arrive | Self::ArriveOther { .. } | Self::Reach(_) | Self::Resume(_) => 4,
            Self::LookAway => 5,
        }
    }
}

#[derive(Debug)]
struct Entry {
    at: Moment,
    /// The rank, and below it a number that keeps the order of what has the same rank.
    order: u64,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// Everything that is known to happen, in order of time.
#[derive(Debug, Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<Entry>>,
    scheduled: u64,
}

impl Events {
    /// Bits for the number, which therefore never reaches the rank.
    const NUMBER_BITS: u32 = 56;

    #[inline]
    pub(super) fn schedule(&mut self, at: Moment, event: Event) {
        self.scheduled += 1;
        let order = u64::from(event.rank()) << Self::NUMBER_BITS | self.scheduled;
        self.heap.push(Reverse(Entry { at, order, event }));
    }

    pub(super) fn next(&mut self) -> Option<(Moment, Event)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }
}
