//! The last minute, in slots of ten seconds by the time at which an exchange began.

use observer_common::{Nanoseconds, Timestamp};

use super::distribution::{Distribution, Merged};

/// How many slots are kept.
const SLOTS: usize = 6;

/// How long a slot is.
const SLOT: Nanoseconds = Nanoseconds(10_000_000_000);

/// How long all slots together are.
pub const ROLLING: Nanoseconds = Nanoseconds(SLOTS as u64 * SLOT.0);

/// Which slot since the clock began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct SlotNumber(u64);

impl SlotNumber {
    const fn of(time: Timestamp) -> Self {
        Self(time.0 / SLOT.0)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a remainder of division by six")]
    const fn place(self) -> usize {
        (self.0 % SLOTS as u64) as usize
    }

    const fn is_recent(self, newest: Self) -> bool {
        self.0 <= newest.0 && self.0 + SLOTS as u64 > newest.0
    }
}

/// Distributions over the last slots. Which ones those are depends on the newest exchange, not on the order in which
/// exchanges arrive: what is too old is dropped whenever it comes.
#[derive(Clone, Debug, Default)]
pub struct Rolling {
    slots: [Slot; SLOTS],
}

#[derive(Clone, Debug, Default)]
struct Slot {
    number: SlotNumber,
    latency: Distribution,
}

impl Rolling {
    /// Takes in the latency of an exchange that began at `start`.
    pub(super) fn record(&mut self, start: Timestamp, latency: Nanoseconds) {
        let number = SlotNumber::of(start);
        let slot = &mut self.slots[number.place()];
        if slot.number < number {
            slot.number = number;
            slot.latency.clear();
        }
        if slot.number == number {
            slot.latency.record(latency);
        }
    }

    /// Adds the slots that count as recent when `newest` is the start of the newest exchange of the whole ledger.
    pub fn add_to(&self, newest: Timestamp, merged: &mut Merged) {
        let newest = SlotNumber::of(newest);
        for slot in &self.slots {
            if slot.number.is_recent(newest) {
                merged.add(&slot.latency);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recent(rolling: &Rolling, newest: u64) -> u64 {
        let mut merged = Merged::default();
        rolling.add_to(Timestamp(newest * 1_000_000_000), &mut merged);
        merged.count()
    }

    #[test]
    fn only_the_last_minute_counts_in_whatever_order_it_comes() {
        let seconds = [5, 15, 25, 64, 65, 66, 70, 119, 12, 60];
        let mut forward = Rolling::default();
        let mut backward = Rolling::default();
        for second in seconds {
            forward.record(Timestamp(second * 1_000_000_000), Nanoseconds(1_000));
        }
        for second in seconds.into_iter().rev() {
            backward.record(Timestamp(second * 1_000_000_000), Nanoseconds(1_000));
        }
        // 119 s is in slot 11, so slots 6 to 11 count: what began at 60 s or later.
        assert_eq!(recent(&forward, 119), 6);
        assert_eq!(recent(&backward, 119), 6);
    }

    #[test]
    fn an_instance_that_fell_silent_has_nothing_recent() {
        let mut rolling = Rolling::default();
        rolling.record(Timestamp(5_000_000_000), Nanoseconds(1_000));
        assert_eq!(recent(&rolling, 6), 1);
        assert_eq!(recent(&rolling, 600), 0);
    }
}
