//! From calculations to whole nanoseconds.

use observer_common::Nanoseconds;

/// A whole number of nanoseconds from a calculation: rounded, and neither negative nor beyond what can be counted.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
pub(super) fn nanoseconds(value: f64) -> Nanoseconds {
    Nanoseconds(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_rounded_and_saturate() {
        assert_eq!(nanoseconds(1.5), Nanoseconds(2));
        assert_eq!(nanoseconds(-3.0), Nanoseconds(0));
        assert_eq!(nanoseconds(f64::INFINITY), Nanoseconds(u64::MAX));
    }
}
