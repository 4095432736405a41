//! The fastest of several copies, sent at once.

use super::{Case, Measure, Preset, policy, service, without_queues};

const SOURCE: &str = "Rigorously hedging against tail latency (2026): 5,000 calls of a gRPC server for each number of \
                      copies, 32 at a time";

const REMARKS: &[&str] = &[
    "Published were the formula and that every measured p50, p95 and p99 lay within 1.6 ms of it: what stands under \
     'exact' here.",
    "How long cancellation took was not published. Here it takes 0.1 ms, to which the attempts cancelled with the \
     exponential time come; those with the log-normal one come to 0.14 ms.",
];

pub(super) fn exponential() -> Preset {
    Preset {
        name: "minimum-exponential",
        about: "the fastest of n copies that each take 5 ms and an exponential time of 20 ms on average",
        source: SOURCE,
        remarks: REMARKS,
        cases: cases("5ms+exponential=20ms", 19_901.0),
    }
}

pub(super) fn log_normal() -> Preset {
    Preset {
        name: "minimum-lognormal",
        about: "the fastest of n copies that each take 5 ms and a log-normal time (median 10 ms, sigma 1)",
        source: SOURCE,
        remarks: REMARKS,
        cases: cases("5ms+lognormal=10ms/1", 19_819.0),
    }
}

fn cases(service_text: &str, cancelled: f64) -> Vec<Case> {
    let service = service(service_text);
    let case = |copies: u32| {
        let mut rows: Vec<_> = [0.5, 0.95, 0.99].map(|share| (Measure::Latency(share), None)).into();
        rows.push((Measure::Executions, Some(f64::from(copies))));
        if copies == 5 {
            rows.push((Measure::Cancelled, Some(cancelled)));
        }
        let label = if copies == 1 { "1 copy".into() } else { format!("{copies} copies") };
        let policy = policy(&format!("copies:{copies},cancel=100us"), &service);
        Case::without_queues(label, without_queues(1, service.clone()), policy, 5_000, &rows)
    };
    (1..=5).map(case).collect()
}
