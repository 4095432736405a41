//! Two kinds of calls, without queues.

use super::{Case, Measure, Preset, policy, service, without_queues};

pub(super) fn preset() -> Preset {
    let service = service("98%:uniform=5ms..15ms,2%:uniform=150ms..250ms");
    let case = |label: &str, text: &str, p99: f64, more: &[(Measure, Option<f64>)]| {
        let mut rows = vec![(Measure::Latency(0.5), None), (Measure::Latency(0.99), Some(p99))];
        rows.extend(more);
        Case::without_queues(
            label,
            without_queues(1, service.clone()),
            policy(text, &service),
            100_000,
            &rows,
        )
    };
    let hedged = [(Measure::HedgedShare, Some(0.020_45)), (Measure::Executions, Some(1.020_45))];
    Preset {
        name: "sampling-98-2",
        about: "98 % of calls take 5 to 15 ms, 2 % take 150 to 250 ms; a plain sampling model",
        source: "Tail latency: how hedged requests cut p99 at scale: a simulation of 100,000 calls with one seed",
        remarks: &[
            "Exactly, p99 is 200.0 ms without a hedge: the published 202.23 ms is what one seed made of it, and one seed \
             in thirteen gives more. With a hedge it is 30.1 ms, of which 30.25 ms was published.",
        ],
        cases: vec![
            case("no hedge", "none", 0.202_23, &[]),
            case("hedge after 20 ms", "hedge:20ms", 0.030_25, &hedged),
        ],
    }
}
