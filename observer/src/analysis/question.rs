//! What is asked of an assessment.

use std::num::NonZeroU32;

use crate::quantity::Share;

/// What is asked of an assessment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// The quantile to improve, between 0.5 and 0.999 9.
    pub target: f64,
    /// Second copies ÷ requests at most, where somebody decided that.
    pub budget: Option<Share>,
    /// Which part of their capacity the instances use, where somebody knows.
    pub utilisation: Option<Share>,
    /// Whether requests may be sent twice.
    pub idempotent: Idempotent,
    /// For how many of these one request waits.
    pub fan_out: NonZeroU32,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            target: 0.99,
            budget: None,
            utilisation: None,
            idempotent: Idempotent::Auto,
            fan_out: NonZeroU32::MIN,
        }
    }
}

/// Whether requests may be sent twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Idempotent {
    /// All may.
    Yes,
    /// None may.
    No,
    /// What their methods and commands say.
    #[default]
    Auto,
}
