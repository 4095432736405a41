//! From numbers to whole ones.

use observer_common::Nanoseconds;

/// A count, rounded down; a negative one is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates at both ends"
)]
pub(super) const fn count(number: f64) -> usize {
    number as usize
}

/// A duration times a factor, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates at both ends"
)]
pub(super) const fn times(duration: Nanoseconds, factor: f64) -> Nanoseconds {
    Nanoseconds((duration.0 as f64 * factor) as u64)
}
