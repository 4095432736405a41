//! Quantiles, how exactly they are known, and histograms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Quantiles to three significant digits, in seconds.
///
/// A quantile is given where at least one exchange is expected beyond it, which takes 2 exchanges for p50, 10 for p90,
/// 20 for p95, 100 for p99 and 1,000 for p999. Otherwise it is absent. Exchanges without an answer count as longer than
/// they waited (Kaplan and Meier); quantiles that lie beyond all answers are lower bounds, and named in `at_least`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Quantiles {
    /// The median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// Nine in ten are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<f64>,
    /// 95 in a hundred are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<f64>,
    /// 99 in a hundred are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// 999 in a thousand are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999: Option<f64>,
    /// The longest, exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Which of these are only lower bounds; absent where none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<String>,
}

impl Quantiles {
    /// Whether the value of this name is only a lower bound.
    pub fn is_at_least(&self, name: &str) -> bool {
        self.at_least.iter().any(|bound| bound == name)
    }
}

/// Counts between bounds. All histograms of a service have the same bounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Histogram {
    /// The bounds, ascending, one more than counts: a count is of durations from its bound to below the next one.
    pub bounds_s: Vec<f64>,
    /// How many durations lie between two bounds.
    pub counts: Vec<u64>,
}

/// 95 % intervals of quantiles, in seconds: `[low, high]`.
///
/// An interval is absent where too few exchanges bound it from above: it takes 6 for the median, 368 for p99 and 3,688
/// for p999, and more where exchanges without an answer are among the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Intervals {
    /// Of the median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<[f64; 2]>,
    /// Of p99.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<[f64; 2]>,
    /// Of p999.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999: Option<[f64; 2]>,
}
