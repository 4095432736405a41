//! Published cases: one file each, with the system, the policies, what was published, and where.

mod adaptive_benchmark;
mod bigtable;
mod fan_out_20;
mod fan_out_any_of_n;
mod measure;
mod minimum;
pub mod model;
mod sampling_98_2;
mod ten_by_eight;
mod text;

use std::num::NonZeroU32;

use observer_common::Nanoseconds;

pub use self::{measure::Measure, model::PresetComparison, text::render};
use super::{
    Arrivals, Balancing, Discipline, Extent, Outcome, Policy, Rate, ServiceTime, System, WithoutQueues,
};

/// A published case.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// What it is asked for by.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// What must be known to read it.
    pub remarks: &'static [&'static str],
    /// What is simulated.
    pub cases: Vec<Case>,
}

/// One system with one policy, and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What tells it from the others.
    pub label: String,
    /// The system.
    pub system: System,
    /// The policy.
    pub policy: Policy,
    /// How much is simulated of it with each seed.
    pub extent: Extent,
    /// What is compared.
    pub rows: Vec<Row>,
}

/// One figure of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// What is measured.
    pub measure: Measure,
    /// What was published, in the unit of the measure.
    pub published: Option<f64>,
    /// What follows from a formula, exactly.
    pub exact: Option<f64>,
}

/// The names of all presets.
pub const NAMES: [&str; 9] = [
    "10x8-2500",
    "10x8-4500",
    "sampling-98-2",
    "minimum-exponential",
    "minimum-lognormal",
    "fanout-any-of-n",
    "fanout-20",
    "bigtable",
    "adaptive-benchmark",
];

impl Preset {
    /// The preset of a name.
    pub fn named(name: &str) -> Option<Self> {
        let preset = match name {
            "10x8-2500" => ten_by_eight::half_loaded(),
            "10x8-4500" => ten_by_eight::nearly_full(),
            "sampling-98-2" => sampling_98_2::preset(),
            "minimum-exponential" => minimum::exponential(),
            "minimum-lognormal" => minimum::log_normal(),
            "fanout-any-of-n" => fan_out_any_of_n::preset(),
            "fanout-20" => fan_out_20::preset(),
            "bigtable" => bigtable::preset(),
            "adaptive-benchmark" => adaptive_benchmark::preset(),
            _ => return None,
        };
        Some(preset)
    }
}

impl Case {
    /// What a run of this case says to its rows.
    pub fn measured(&self, outcome: &Outcome) -> Vec<f64> {
        self.rows.iter().map(|row| row.measure.of(outcome)).collect()
    }

    /// A case in which nothing waits, with what follows from formulas beside what was published.
    fn without_queues(
        label: impl Into<String>,
        system: System,
        policy: Policy,
        requests: u64,
        rows: &[(Measure, Option<f64>)],
    ) -> Self {
        let exact = |measure: Measure| {
            WithoutQueues::new(&system, &policy).and_then(|formula| measure.exact(&formula))
        };
        let rows = rows
            .iter()
            .map(|(measure, published)| Row {
                measure: *measure,
                published: *published,
                exact: exact(*measure),
            })
            .collect();
        Self { label: label.into(), extent: Extent { duration: FOREVER, requests }, system, policy, rows }
    }
}

/// Longer than any run.
const FOREVER: Nanoseconds = Nanoseconds(u64::MAX);

const fn milliseconds(number: u64) -> Nanoseconds {
    Nanoseconds(number * 1_000_000)
}

/// A positive number; one, for nothing.
fn count(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

/// So many instances and slots that nothing ever waits: a plain sampling model.
fn without_queues(width: u32, service: ServiceTime) -> System {
    System {
        arrivals: Arrivals::ClosedLoop { clients: count(32), think: Nanoseconds(0) },
        width: count(width),
        balancing: Balancing::Random,
        instances: count(10),
        slots: NonZeroU32::MAX,
        discipline: Discipline::FirstInFirstOut,
        service,
    }
}

/// A service time of constants that are known to be one.
#[expect(clippy::expect_used, reason = "constants, each tried by a test")]
fn service(text: &str) -> ServiceTime {
    text.parse().expect("a service time")
}

/// A policy of constants that are known to be one.
#[expect(clippy::expect_used, reason = "constants, each tried by a test")]
fn policy(text: &str, service: &ServiceTime) -> Policy {
    text.parse::<super::notation::PolicyText>().expect("a policy").for_service(service)
}

#[cfg(test)]
mod tests;
