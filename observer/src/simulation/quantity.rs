//! Shares and rates.

use std::num::NonZeroU32;

use observer_common::Nanoseconds;

/// How often something happens: a positive, finite number a second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// So many a second, if that is positive and finite.
    pub fn per_second(number: f64) -> Option<Self> {
        (number.is_finite() && number > 0.0).then_some(Self(number))
    }

    /// A whole number a second.
    pub const fn whole(number: NonZeroU32) -> Self {
        Self(number.get() as f64)
    }

    /// The number a second.
    pub const fn as_per_second(self) -> f64 {
        self.0
    }

    /// The mean time between two, in nanoseconds.
    pub(super) const fn mean_gap_ns(self) -> f64 {
        1e9 / self.0
    }
}

/// A part of a whole, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(f64);

impl Share {
    /// The whole.
    pub const ALL: Self = Self(1.0);

    /// One of two.
    pub const HALF: Self = Self(0.5);

    /// One in ten.
    pub const TENTH: Self = Self(0.1);

    /// This part, if it is one.
    pub fn new(part: f64) -> Option<Self> {
        (0.0..=1.0).contains(&part).then_some(Self(part))
    }

    /// The part, from 0 to 1.
    pub const fn as_fraction(self) -> f64 {
        self.0
    }
}

/// A whole number of nanoseconds from a calculation: rounded, and neither negative nor beyond what can be counted.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
pub(super) fn nanoseconds(value: f64) -> Nanoseconds {
    Nanoseconds(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_rate_or_share_is_refused() {
        for number in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Rate::per_second(number), None);
        }
        for part in [-0.1, 1.000_1, f64::NAN] {
            assert_eq!(Share::new(part), None);
        }
        assert_eq!(Share::new(1.0), Some(Share::ALL));
    }

    #[test]
    fn nanoseconds_are_rounded_and_saturate() {
        assert_eq!(nanoseconds(1.5), Nanoseconds(2));
        assert_eq!(nanoseconds(-3.0), Nanoseconds(0));
        assert_eq!(nanoseconds(f64::INFINITY), Nanoseconds(u64::MAX));
    }
}
