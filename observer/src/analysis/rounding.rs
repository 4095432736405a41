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

/// A number of nanoseconds, rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates at both ends"
)]
pub(super) const fn rounded(number: f64) -> u64 {
    number as u64
}

/// A duration times a factor, rounded down.
pub(super) const fn times(duration: Nanoseconds, factor: f64) -> Nanoseconds {
    Nanoseconds(rounded(duration.0 as f64 * factor))
}
