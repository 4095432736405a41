//! Points in time and durations, as the kernel measures them.

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(transparent)]
pub struct Nanoseconds(pub u64);

impl Nanoseconds {
    /// The duration in seconds.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// A point in time: nanoseconds of `CLOCK_MONOTONIC` on the observed host (what `bpf_ktime_get_ns` returns),
/// or the capture's own clock where exchanges come from a packet capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The time from `earlier` to `self`, or nothing if the clock went backwards in between.
    pub const fn since(self, earlier: Self) -> Option<Nanoseconds> {
        match self.0.checked_sub(earlier.0) {
            Some(nanoseconds) => Some(Nanoseconds(nanoseconds)),
            None => None,
        }
    }
}
