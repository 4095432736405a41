//! Simulated time.

use observer_common::Nanoseconds;

/// A point in simulated time: nanoseconds since the first request could arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(pub(super) u64);

impl Moment {
    /// The moment a while later; the end of time at the latest.
    pub(super) const fn after(self, duration: Nanoseconds) -> Self {
        Self(self.0.saturating_add(duration.0))
    }

    /// The time since an earlier moment.
    pub(super) const fn since(self, earlier: Self) -> Nanoseconds {
        Nanoseconds(self.0.saturating_sub(earlier.0))
    }
}
