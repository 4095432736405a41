//! Times and durations in files: plain numbers of nanoseconds, whose unit is in the field's name.

use observer_common::{Nanoseconds, Timestamp};
use serde::{Deserialize, Serialize};

/// How a [`Timestamp`] is written into a field `…_ns`.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Timestamp")]
pub(super) struct TimestampNumber(u64);

/// How [`Nanoseconds`] are written into a field `…_ns`.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Nanoseconds")]
pub(super) struct NanosecondsNumber(u64);
