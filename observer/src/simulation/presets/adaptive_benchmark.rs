//! A library that learns its delay, against fixed ones.

use super::{Case, Measure, Preset, policy, service, without_queues};

pub(super) fn preset() -> Preset {
    // Log-normal with mean 5 ms and standard deviation 2 ms: sigma² = ln(1 + (2 ÷ 5)²), median = 5 ms · e^(−sigma² ÷ 2).
    let service = service("95%:lognormal=4642383ns/0.385253,5%:lognormal=46423835ns/0.385253");
    let case = |label: &str, text: &str, published: [Option<f64>; 3]| {
        let measures = [Measure::Latency(0.99), Measure::Latency(0.999), Measure::HedgedShare];
        let rows: Vec<_> = measures.into_iter().zip(published).collect();
        Case::without_queues(label, without_queues(1, service.clone()), policy(text, &service), 50_000, &rows)
    };
    Preset {
        name: "adaptive-benchmark",
        about: "5 ms on average with a deviation of 2 ms, log-normal; 5 % of calls take ten times as long",
        source: "bhope/hedge: its benchmark of 50,000 calls",
        remarks: &[
            "The library looks for its delay while it runs. Simulated is the fixed delay that hedges as many calls, \
             8.9 %: what learning could reach at that price.",
        ],
        cases: vec![
            case("no hedge", "none", [Some(0.064_3), Some(0.104_5), None]),
            case("hedge after 10 ms", "hedge:10ms", [Some(0.017_4), Some(0.046_5), Some(0.074)]),
            case("hedge after 50 ms", "hedge:50ms", [Some(0.054_7), Some(0.060_2), Some(0.021)]),
            case("adaptive delay", "hedge:p91.1", [Some(0.017_0), Some(0.059_4), Some(0.089)]),
        ],
    }
}
