//! Hedging each of twenty calls.

use super::{Case, Measure, Preset, policy, service, without_queues};

/// How many calls a request makes.
const WIDTH: u32 = 20;

pub(super) fn preset() -> Preset {
    let service = service("exponential=10ms");
    let case = |label: &str, text: &str, executions: Option<f64>| {
        let rows = [
            (Measure::Latency(0.99), None),
            (Measure::HedgedShare, Some(0.642)),
            (Measure::Executions, executions),
        ];
        let system = without_queues(WIDTH, service.clone());
        Case::without_queues(label, system, policy(text, &service), 50_000, &rows)
    };
    let mut bounded = case("at most one hedge a request", "hedge:p95,per-request=1", None);
    // One call in twenty is late: a request has none with 0.95²⁰, and otherwise exactly one hedge.
    let hedged = 1.0 - libm::pow(0.95, f64::from(WIDTH));
    for row in &mut bounded.rows {
        row.exact = match row.measure {
            Measure::HedgedShare => Some(hedged),
            Measure::Executions => Some(f64::from(WIDTH) + hedged),
            _ => None,
        };
    }
    Preset {
        name: "fanout-20",
        about: "requests of 20 calls, of which each is hedged after its own p95",
        source: "Hedged Requests and the Economics of Tail Tolerance: 20 · (1 + 5 %) requests, of which 1 − 0.95²⁰ hedge",
        remarks: &[
            "A budget for the whole request bounds the extra load by the share of requests that hedge.",
        ],
        cases: vec![case("each call on its own", "hedge:p95", Some(21.0)), bounded],
    }
}
