//! A part of a whole.

use serde::{Deserialize, Serialize};

/// From 0, nothing, to 1, everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

impl Share {
    /// Nothing.
    pub const NONE: Self = Self(0.0);
    /// Everything.
    pub const ALL: Self = Self(1.0);

    /// So many hundredths; more than 100 are all.
    pub const fn percent(percent: u8) -> Self {
        if percent < 100 { Self(percent as f64 / 100.0) } else { Self::ALL }
    }

    /// As a number from 0 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A number is not a share.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not from 0 to 1")]
pub struct ShareError(f64);

impl TryFrom<f64> for Share {
    type Error = ShareError;

    fn try_from(value: f64) -> Result<Self, ShareError> {
        if (0.0..=1.0).contains(&value) { Ok(Self(value)) } else { Err(ShareError(value)) }
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
    fn a_share_is_from_nothing_to_everything() {
        assert_eq!(Share::try_from(0.05), Ok(Share::percent(5)));
        for wrong in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            assert!(Share::try_from(wrong).is_err(), "{wrong}");
        }
    }
}
