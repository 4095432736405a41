//! Flags that say what is asked about the tail.

use std::num::NonZeroU32;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

use crate::{
    analysis::Idempotent,
    ledger::Metric,
    quantity::Share,
    settings::{QuestionSettings, parse_fan_out, parse_idempotent, parse_metric, parse_share, parse_target},
};

/// What is asked about the tail.
#[derive(Debug, Args)]
#[command(next_help_heading = "Verdict and advice")]
pub(super) struct QuestionArguments {
    /// Which latency is judged: until the first response byte, or until the last one [default: first-byte]
    #[arg(
        long,
        value_name = "METRIC",
        env = "OBSERVER_METRIC",
        value_parser = PossibleValuesParser::new(["first-byte", "last-byte"]).try_map(|text| parse_metric(&text))
    )]
    metric: Option<Metric>,
    /// Second copies at most, as a share of the requests, such as 5%; without it the headroom decides
    #[arg(long, value_name = "PERCENT", env = "OBSERVER_BUDGET", value_parser = parse_share)]
    budget: Option<Share>,
    /// The quantile to improve, from p50 to p99.99, or as a number such as 0.99 [default: p99]
    #[arg(long, value_name = "QUANTILE", env = "OBSERVER_TARGET", value_parser = parse_target)]
    target: Option<f64>,
    /// Which part of their capacity the instances use, such as 70%; without it, what the exchanges tell
    #[arg(long, value_name = "PERCENT", env = "OBSERVER_UTILIZATION", value_parser = parse_share)]
    utilization: Option<Share>,
    /// Whether requests may be sent twice; 'auto' goes by their methods and commands [default: auto]
    #[arg(
        long,
        value_name = "WHETHER",
        env = "OBSERVER_IDEMPOTENT",
        value_parser = PossibleValuesParser::new(["yes", "no", "auto"]).try_map(|text| parse_idempotent(&text))
    )]
    idempotent: Option<Idempotent>,
    /// For how many of these one request waits: its slowest one decides [default: 1]
    #[arg(
        long,
        value_name = "N",
        env = "OBSERVER_FANOUT",
        allow_negative_numbers = true,
        value_parser = parse_fan_out
    )]
    fanout: Option<NonZeroU32>,
}

impl QuestionArguments {
    /// The same, to be completed by the configuration file.
    pub(super) const fn settings(&self) -> QuestionSettings {
        QuestionSettings {
            metric: self.metric,
            budget: self.budget,
            target: self.target,
            utilization: self.utilization,
            idempotent: self.idempotent,
            fanout: self.fanout,
        }
    }
}
