//! Durations, rates, shares and counts.

use std::{fmt, num::NonZeroU32};

use jiff::SignedDuration;
use observer_common::Nanoseconds;

use super::NotationError;
use crate::simulation::{Balancing, Rate, Share};

/// Reads a duration with its unit, such as `250us`; it may be zero.
pub fn duration(text: &str) -> Result<Nanoseconds, NotationError> {
    let expected = "duration; write it with its unit, like '250us', '10ms' or '1m30s'";
    let duration = text.parse::<SignedDuration>().ok().map(|duration| duration.as_nanos());
    match duration.and_then(|nanoseconds| u64::try_from(nanoseconds).ok()) {
        Some(nanoseconds) => Ok(Nanoseconds(nanoseconds)),
        None => Err(NotationError::Value { found: text.into(), expected }),
    }
}

/// Reads a rate, such as `2500/s`.
pub fn rate(text: &str) -> Result<Rate, NotationError> {
    let per_second = text.strip_suffix("/s").and_then(|number| number.parse().ok());
    per_second
        .and_then(Rate::per_second)
        .ok_or_else(|| NotationError::Value { found: text.into(), expected: "rate; write it like '2500/s'" })
}

/// Reads a share of a whole, such as `5%`.
pub(super) fn share(text: &str) -> Result<Share, NotationError> {
    let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    percent.and_then(|percent| Share::new(percent / 100.0)).ok_or_else(|| NotationError::Value {
        found: text.into(),
        expected: "share of a whole; write it in percent from 0% to 100%, like '5%'",
    })
}

/// Reads a positive whole number.
pub(super) fn count(text: &str) -> Result<NonZeroU32, NotationError> {
    text.parse().map_err(|_| NotationError::Value {
        found: text.into(),
        expected: "positive whole number, such as '3'",
    })
}

/// A duration as [`duration`] reads it: exactly, in the largest unit that it fills.
pub(super) struct DurationText(pub(super) Nanoseconds);

impl fmt::Display for DurationText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0.0;
        let units = [("s", 1_000_000_000, 9), ("ms", 1_000_000, 6), ("us", 1_000, 3)];
        match units.into_iter().find(|(_, unit, _)| nanoseconds >= *unit) {
            Some((name, unit, digits)) => {
                let number = format!("{}.{:0digits$}", nanoseconds / unit, nanoseconds % unit);
                write!(formatter, "{}{name}", number.trim_end_matches('0').trim_end_matches('.'))
            }
            None if nanoseconds == 0 => formatter.write_str("0s"),
            None => write!(formatter, "{nanoseconds}ns"),
        }
    }
}

/// A share as [`share`] reads it.
pub(super) struct ShareText(pub(super) Share);

impl fmt::Display for ShareText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a fraction loses in becoming percent is far beyond what anybody writes.
        let percent = (self.0.as_fraction() * 1e11).round() / 1e9;
        write!(formatter, "{percent}%")
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/s", self.as_per_second())
    }
}

impl fmt::Display for Balancing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Random => "random",
            Self::RoundRobin => "round-robin",
            Self::TwoChoices => "two-choices",
            Self::LeastInFlight => "least-in-flight",
            Self::LatencyAware => "latency-aware",
        })
    }
}
