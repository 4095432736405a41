//! Noticing that records found no room in the ring.

use aya::Ebpf;
use observer_common::Reason;

use super::counters::Reading;

/// How many were lost when it was last looked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses(Reading);

impl Losses {
    /// None are, as of this reading.
    pub(super) const fn since(reading: Reading) -> Self {
        Self(reading)
    }

    /// Whether any were lost since the last look. Counters that cannot be read are told where they are reported.
    pub(super) fn grew(&mut self, ebpf: &Ebpf) -> bool {
        let Ok(reading) = Reading::take(ebpf) else { return false };
        let lost = reading.since(&self.0, Reason::RingFull) != 0;
        self.0 = reading;
        lost
    }
}
