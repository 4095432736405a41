//! Numbers as quantities.

use anyhow::{Context as _, Result};
use observer::simulation::{Rate, Share};
use observer_common::Nanoseconds;

/// A duration; negative ones are none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, which is what is meant"
)]
pub(crate) fn seconds(number: f64) -> Nanoseconds {
    Nanoseconds((number * 1e9).round() as u64)
}

/// A part of a whole; what is below or above counts as nothing or all of it.
pub(crate) fn share(part: f64) -> Share {
    Share::new(part.clamp(0.0, 1.0)).unwrap_or_default()
}

/// So many a second.
pub(crate) fn rate(per_second: f64) -> Result<Rate> {
    Rate::per_second(per_second).with_context(|| format!("{per_second} is no rate"))
}

/// The nearest whole number; at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, which is what is meant"
)]
pub(crate) fn whole(number: f64) -> std::num::NonZeroU32 {
    std::num::NonZeroU32::new(number.round() as u32).unwrap_or(std::num::NonZeroU32::MIN)
}
