//! A request is slow if any of its calls is.

use super::{Case, Measure, Policy, Preset, milliseconds, service, without_queues};

/// Calls of a run, about.
const CALLS: u64 = 1_000_000;

pub(super) fn preset() -> Preset {
    let published = [(1, 0.010), (10, 0.096), (50, 0.395), (100, 0.634), (1_000, 1.0)];
    let case = |(width, slow): (u32, f64)| {
        let label = if width == 1 { "1 call".into() } else { format!("{width} calls") };
        let system = without_queues(width, service("99%:10ms,1%:1100ms"));
        let requests = (CALLS / u64::from(width)).min(20_000);
        let rows = [(Measure::LongerThan(milliseconds(1_000)), Some(slow))];
        Case::without_queues(label, system, Policy::NONE, requests, &rows)
    };
    Preset {
        name: "fanout-any-of-n",
        about: "requests of many calls, of which each takes longer than 1 s with a probability of 1 %",
        source: "1 − 0.99ⁿ, in any text on fan-out",
        remarks: &[],
        cases: published.map(case).into(),
    }
}
