//! Work for the processor.

use std::{hint::black_box, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// So much is done before the clock is looked at again.
const ROUNDS: u64 = 1_000;

/// Spends processor time of this thread. With a quota it takes longer than that on the wall.
pub(super) fn spend(time: Duration) {
    if time.is_zero() {
        return;
    }
    let start = spent();
    while spent().saturating_sub(start) < time {
        black_box((0..ROUNDS).fold(0_u64, |sum, number| black_box(sum ^ number)));
    }
}

/// The processor time that this thread has had.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock begins at 0 and never goes backwards.
    Duration::new(time.tv_sec.cast_unsigned(), 0) + Duration::from_nanos(time.tv_nsec.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_is_processor_time() {
        let before = spent();
        spend(Duration::from_millis(5));
        assert!(spent() >= before + Duration::from_millis(5));
    }
}
