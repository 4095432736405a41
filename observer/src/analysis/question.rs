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

impl Question {
    /// The quantile of one exchange that decides over the target quantile of a request that waits for several: all of them
    /// are in time with the target's probability if each is with  target^(1 ÷ width).
    pub fn component_target(&self) -> f64 {
        libm::pow(self.target, 1.0 / f64::from(self.fan_out.get()))
    }
}
