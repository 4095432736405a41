//! What was asked about the exchanges.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    analysis::{Idempotent, Question},
    ledger::Metric,
};

/// What was asked about the exchanges: verdicts and advice are answers to it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Asked {
    /// Which latency is judged: `first-byte` or `last-byte`.
    pub metric: String,
    /// The quantile to improve, such as 0.99.
    pub target: f64,
    /// Second copies ÷ requests at most, where somebody decided that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_fraction: Option<f64>,
    /// Which part of their capacity the instances use, where somebody said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Whether requests may be sent twice: `yes`, `no`, or `auto` for what their methods and commands say.
    pub idempotent: String,
    /// For how many of these one request waits.
    pub fan_out: u32,
}

impl Asked {
    pub(crate) fn of(question: &Question, metric: Metric) -> Self {
        let idempotent = match question.idempotent {
            Idempotent::Yes => "yes",
            Idempotent::No => "no",
            Idempotent::Auto => "auto",
        };
        Self {
            metric: metric.name().into(),
            target: question.target,
            budget_fraction: question.budget.map(Into::into),
            utilization: question.utilisation.map(Into::into),
            idempotent: idempotent.into(),
            fan_out: question.fan_out.get(),
        }
    }
}
