//! What is asked about the tail, as flags, variables and the configuration file write it.

use std::num::NonZeroU32;

use serde::{Deserialize, Deserializer, de::Error};
use toml::Value;

use crate::{
    analysis::{Idempotent, Question},
    ledger::Metric,
    quantity::Share,
};

/// The quantiles that can be asked for.
const TARGETS: std::ops::RangeInclusive<f64> = 0.5..=0.9999;

/// What is asked about the tail, as far as somebody said so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuestionSettings {
    /// Which latency is judged.
    #[serde(deserialize_with = "metric")]
    pub metric: Option<Metric>,
    /// Second copies ÷ requests at most.
    #[serde(deserialize_with = "share")]
    pub budget: Option<Share>,
    /// The quantile to improve.
    #[serde(deserialize_with = "target")]
    pub target: Option<f64>,
    /// Which part of their capacity the instances use.
    #[serde(deserialize_with = "share")]
    pub utilization: Option<Share>,
    /// Whether requests may be sent twice.
    #[serde(deserialize_with = "idempotent")]
    pub idempotent: Option<Idempotent>,
    /// For how many of these one request waits.
    #[serde(deserialize_with = "fan_out")]
    pub fanout: Option<NonZeroU32>,
}

impl QuestionSettings {
    /// These, and where they say nothing, what `other` says.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            metric: self.metric.or(other.metric),
            budget: self.budget.or(other.budget),
            target: self.target.or(other.target),
            utilization: self.utilization.or(other.utilization),
            idempotent: self.idempotent.or(other.idempotent),
            fanout: self.fanout.or(other.fanout),
        }
    }

    /// Which latency is judged.
    pub fn metric(&self) -> Metric {
        self.metric.unwrap_or_default()
    }

    /// What is asked.
    pub fn question(&self) -> Question {
        let default = Question::default();
        Question {
            target: self.target.unwrap_or(default.target),
            budget: self.budget,
            utilisation: self.utilization,
            idempotent: self.idempotent.unwrap_or_default(),
            fan_out: self.fanout.unwrap_or(default.fan_out),
        }
    }
}

/// Reads a share: `5%`.
pub(crate) fn parse_share(text: &str) -> Result<Share, String> {
    text.strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok())
        .and_then(|percent| Share::new(percent / 100.0))
        .ok_or_else(|| "write it from 0% to 100%, such as 5%".into())
}

/// Reads a quantile: `p99`, `p99.9`, `p999` as the JSON names it, `0.99`.
pub(crate) fn parse_target(text: &str) -> Result<f64, String> {
    let number = match text.strip_prefix('p') {
        Some(digits) => percentile(digits),
        None => text.parse().ok(),
    };
    number
        .filter(|quantile| TARGETS.contains(quantile))
        .ok_or_else(|| "write a quantile from p50 to p99.99, such as p99 or 0.99".into())
}

fn percentile(digits: &str) -> Option<f64> {
    let (whole, rest) = digits.split_at_checked(2)?;
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let sound = whole.bytes().chain(rest.bytes()).all(|digit| digit.is_ascii_digit());
    // Through text, so that p99.9 is exactly what 0.999 is.
    if sound { format!("0.{whole}{rest}").parse().ok() } else { None }
}

/// Reads a metric by its name.
pub(crate) fn parse_metric(text: &str) -> Result<Metric, String> {
    let found = Metric::ALL.into_iter().find(|metric| metric.name() == text);
    found.ok_or_else(|| "write 'first-byte' or 'last-byte'".into())
}

/// Reads whether requests may be sent twice.
pub(crate) fn parse_idempotent(text: &str) -> Result<Idempotent, String> {
    match text {
        "yes" => Ok(Idempotent::Yes),
        "no" => Ok(Idempotent::No),
        "auto" => Ok(Idempotent::Auto),
        _ => Err("write 'yes', 'no' or 'auto'".into()),
    }
}

/// Reads for how many of these one request waits.
pub(crate) fn parse_fan_out(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("write a whole number from 1 to {}, such as 20", u32::MAX))
}

/// Reads what is written as a text, or as a number that means the same.
fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let (text, hint) = match Value::deserialize(deserializer)? {
        Value::String(text) => (text, ""),
        other => (other.to_string(), ", in quotes"),
    };
    parse(&text).map(Some).map_err(|reason| not_understood(&text, &format!("{reason}{hint}")))
}

fn not_understood<E: Error>(text: &str, reason: &str) -> E {
    E::custom(format!("'{text}' is not understood: {reason}"))
}

fn fan_out<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NonZeroU32>, D::Error> {
    let text = Value::deserialize(deserializer)?.to_string();
    parse_fan_out(&text).map(Some).map_err(|reason| not_understood(&text, &reason))
}

fn metric<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Metric>, D::Error> {
    read(deserializer, parse_metric)
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Share>, D::Error> {
    read(deserializer, parse_share)
}

fn target<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    read(deserializer, parse_target)
}

fn idempotent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Idempotent>, D::Error> {
    read(deserializer, parse_idempotent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_percentage() {
        assert_eq!(parse_share("5%"), Ok(Share::percent(5)));
        assert_eq!(parse_share("100 %"), Ok(Share::ALL));
        for wrong in ["5", "0.05", "101%", "-1%", "%", ""] {
            assert!(parse_share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_target_is_a_quantile_of_the_upper_half() {
        for (text, quantile) in [
            ("p50", 0.5),
            ("p99", 0.99),
            ("p99.9", 0.999),
            ("p999", 0.999),
            ("p99.99", 0.9999),
            ("0.99", 0.99),
            ("0.5", 0.5),
        ] {
            assert_eq!(parse_target(text), Ok(quantile), "{text}");
        }
        for wrong in
            ["p49", "p5", "p", "p99.999", "p100", "1", "0.4", "99", "99%", "-0.9", "NaN", "p9x", "p.99", ""]
        {
            assert!(parse_target(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn flags_go_before_the_file_and_the_file_before_defaults() {
        let file: QuestionSettings = toml::from_str(
            "metric = 'last-byte'\nbudget = '2%'\ntarget = 'p99.9'\nutilization = '70%'\nidempotent = 'yes'\n\
             fanout = 20",
        )
        .unwrap();
        let flags = QuestionSettings { budget: Some(Share::percent(7)), ..QuestionSettings::default() };
        let question = flags.or(file).question();
        assert_eq!(
            question,
            Question {
                target: 0.999,
                budget: Some(Share::percent(7)),
                utilisation: Share::new(0.7),
                idempotent: Idempotent::Yes,
                fan_out: NonZeroU32::new(20).unwrap(),
            }
        );
        assert_eq!(flags.or(file).metric(), Metric::LastByte);
        assert_eq!(QuestionSettings::default().question(), Question::default());
        assert_eq!(QuestionSettings::default().metric(), Metric::FirstByte);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for wrong in [
            "budget = 5",
            "budget = '5'",
            "target = 'p1'",
            "idempotent = true",
            "fanout = 0",
            "metrics = 'x'",
        ] {
            assert!(toml::from_str::<QuestionSettings>(wrong).is_err(), "{wrong}");
        }
    }
}
