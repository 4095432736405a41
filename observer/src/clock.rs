//! The clocks of this host.

use observer_common::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Now, on the clock that the probes read too.
pub(crate) fn monotonic() -> Timestamp {
    Timestamp(nanoseconds(ClockId::Monotonic))
}

/// What to add to the monotonic clock to get nanoseconds since the Unix epoch.
pub(crate) fn wall_offset_ns() -> i64 {
    let wall = nanoseconds(ClockId::Realtime);
    let monotonic = nanoseconds(ClockId::Monotonic);
    wall.cast_signed().wrapping_sub(monotonic.cast_signed())
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Neither clock is negative.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
