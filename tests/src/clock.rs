//! The clock that the client, the server and the probes share.

use observer_common::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Now, on `CLOCK_MONOTONIC`: the clock of `bpf_ktime_get_ns`.
pub fn now() -> Timestamp {
    let time = clock_gettime(ClockId::Monotonic);
    // Neither part is negative: the clock starts at boot.
    Timestamp(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}
