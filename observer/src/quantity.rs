//! Shares and rates.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// How often something happens: a positive, finite number a second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
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
}

/// A part of a whole, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

impl Share {
    /// Nothing of it.
    pub const NONE: Self = Self(0.0);

    /// The whole.
    pub const ALL: Self = Self(1.0);

    /// This part, if it is one.
    pub fn new(part: f64) -> Option<Self> {
        (0.0..=1.0).contains(&part).then_some(Self(part))
    }

    /// So many hundredths; more than 100 are all.
    pub const fn percent(percent: u8) -> Self {
        if percent < 100 { Self(percent as f64 / 100.0) } else { Self::ALL }
    }

    /// The part, from 0 to 1.
    pub const fn as_fraction(self) -> f64 {
        self.0
    }
}

/// A number is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum QuantityError {
    /// No rate.
    #[error("{0} is no rate: a positive number")]
    Rate(f64),
    /// No share.
    #[error("{0} is no share: a number from 0 to 1")]
    Share(f64),
}

impl TryFrom<f64> for Rate {
    type Error = QuantityError;

    fn try_from(number: f64) -> Result<Self, QuantityError> {
        Self::per_second(number).ok_or(QuantityError::Rate(number))
    }
}

impl From<Rate> for f64 {
    fn from(rate: Rate) -> Self {
        rate.0
    }
}

impl TryFrom<f64> for Share {
    type Error = QuantityError;

    fn try_from(part: f64) -> Result<Self, QuantityError> {
        Self::new(part).ok_or(QuantityError::Share(part))
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> Self {
        share.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_rate_or_share_is_refused() {
        for number in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Rate::try_from(number).is_err(), "{number}");
        }
        for part in [-0.1, 1.000_1, f64::NAN, f64::INFINITY] {
            assert!(Share::try_from(part).is_err(), "{part}");
        }
        assert_eq!(Share::new(1.0), Some(Share::ALL));
        assert_eq!(Share::new(0.05), Some(Share::percent(5)));
    }
}
