//! The clock that the probes read too.

use observer_common::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Now, on `CLOCK_MONOTONIC`.
pub(super) fn now() -> Timestamp {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither part is ever negative on this clock.
    Timestamp(now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs())
}
