//! One instance, whatever its discipline.

use super::{queue::Queue, sharing::Sharing};
use crate::simulation::system::Discipline;

#[derive(Debug)]
pub(super) enum Station {
    Queue(Queue),
    Sharing(Sharing),
}

impl Station {
    pub(super) fn new(discipline: Discipline, slots: u32) -> Self {
        match discipline {
            Discipline::FirstInFirstOut => Self::Queue(Queue::default()),
            Discipline::ProcessorSharing => Self::Sharing(Sharing::new(slots)),
        }
    }

    /// How many copies wait or are being served.
    pub(super) const fn in_flight(&self) -> u32 {
        match self {
            Self::Queue(queue) => queue.in_flight(),
            Self::Sharing(sharing) => sharing.in_flight(),
        }
    }
}
