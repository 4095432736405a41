//! Reading a thousand values at once.

use super::{Case, Measure, Preset, policy, service, without_queues};

pub(super) fn preset() -> Preset {
    // Calibrated: P(T > 10 ms) = 2 %, and P(T > 1.8 s) = 1 − 0.999^(1 ÷ 1000), so that both published figures come
    // out. With z = 2.0537 and z = 4.7534 at these: sigma = ln(1800 ÷ 10) ÷ (4.7534 − 2.0537).
    let service = service("lognormal=192456ns/1.9235");
    let case = |label: &str, text: &str, p999: f64, executions: f64| {
        let rows = [(Measure::Latency(0.999), Some(p999)), (Measure::Executions, Some(executions))];
        let system = without_queues(1_000, service.clone());
        Case::without_queues(label, system, policy(text, &service), 2_000, &rows)
    };
    Preset {
        name: "bigtable",
        about: "reads of 1,000 values at once, each hedged after 10 ms",
        source: "The Tail at Scale (2013): a benchmark of BigTable on 100 servers",
        remarks: &[
            "How long a single read takes was not published. Here it is log-normal, with both parameters set so that the \
             hedges (2 %) and the p99.9 without them (1.8 s) come out; the p99.9 with hedges is then a prediction.",
        ],
        cases: vec![
            case("no hedge", "none", 1.8, 1_000.0),
            case("hedge after 10 ms", "hedge:10ms", 0.074, 1_020.0),
        ],
    }
}
