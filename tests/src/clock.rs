//! The clock that the client, the server and the probes share.

use observer_common::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Now, on `CLOCK_MONOTONIC`: the clock of `bpf_ktime_get_ns`.
pub fn now() -> Timestamp {
    Timestamp(read(ClockId::Monotonic))
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Neither part is negative: these clocks start at boot and in 1970.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// How far wall-clock time is ahead of [`now`], in nanoseconds: it lies between these two.
#[derive(Clone, Copy, Debug)]
pub struct WallOffset {
    least: u64,
    most: u64,
}

impl WallOffset {
    /// Reads both clocks.
    pub fn read() -> Self {
        let before = now();
        let wall = read(ClockId::Realtime);
        Self { least: wall - now().0, most: wall - before.0 }
    }

    /// Whatever it was from one reading to another.
    #[must_use]
    pub fn until(self, later: Self) -> Self {
        Self { least: self.least.min(later.least), most: self.most.max(later.most) }
    }

    /// The earliest that a moment of wall-clock time can have been.
    pub const fn earliest(self, wall: u64) -> Timestamp {
        Timestamp(wall.saturating_sub(self.most))
    }

    /// The latest that a moment of wall-clock time can have been.
    pub const fn latest(self, wall: u64) -> Timestamp {
        Timestamp(wall.saturating_sub(self.least))
    }
}
