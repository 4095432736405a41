//! The report for programs.

use observer::{
    ledger::Limits,
    provenance::{Provenance, SourceKind},
    report::{Report, json::render, schema},
};
use serde_json::{Value, json};

use crate::{assessments, sample::Sample};

/// Fails with everything in which the report does not fulfil the published schema.
pub(crate) fn assert_fulfils_schema(report: &Value) {
    let validator =
        jsonschema::validator_for(&serde_json::to_value(schema::of::<Report>()).unwrap()).unwrap();
    let errors: Vec<_> =
        validator.iter_errors(report).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new());
}

fn value(report: &Report) -> Value {
    let value = serde_json::from_str(&render(report, false).unwrap()).unwrap();
    assert_fulfils_schema(&value);
    value
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(fields) => fields.values().any(holds_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[test]
fn every_report_fulfils_the_schema_and_holds_no_null() {
    let mut beyond = Sample::new();
    beyond.limits = Limits { services: 1, instances: 2, ..Limits::default() };
    let service = beyond.names.id("another");
    beyond.add("192.0.2.1:80", 6_000_000_000, 1_000_000).service = service;
    let mut nothing = Sample::new();
    nothing.exchanges.clear();
    nothing.provenance = Provenance::of(SourceKind::Table);
    for sample in [Sample::new(), Sample::new().with_troubles(), beyond, nothing] {
        assert!(!holds_null(&value(&sample.report())));
    }
}

#[test]
fn a_report_of_another_shape_does_not_fulfil_the_schema() {
    let mut report = value(&Sample::new().report());
    report["services"][0]["latency_s"]["p99"] = json!("1 ms");
    let validator =
        jsonschema::validator_for(&serde_json::to_value(schema::of::<Report>()).unwrap()).unwrap();
    assert!(!validator.is_valid(&report));
}

#[test]
fn the_names_of_the_contract_are_there() {
    let report = value(&Sample::new().with_troubles().report());
    for pointer in [
        "/schema_version",
        "/tool/name",
        "/tool/version",
        "/window/start",
        "/window/end",
        "/window/duration_s",
        "/source/kind",
        "/source/exchanges",
        "/source/lost_events",
        "/source/sampled_fraction",
        "/source/unpaired/push",
        "/source/unmeasurable_share",
        "/source/degraded/0/what",
        "/services/0/name",
        "/services/0/protocol",
        "/services/0/exchanges",
        "/services/0/rate_per_s",
        "/services/0/in_flight",
        "/services/0/pending_oldest_s",
        "/services/0/latency_s/p50",
        "/services/0/latency_s/p90",
        "/services/0/latency_s/p95",
        "/services/0/latency_s/p99",
        "/services/0/latency_s/p999",
        "/services/0/latency_s/max",
        "/services/0/last_byte_s/p99",
        "/services/0/read_lag_s/p99",
        "/services/0/instances/0/address",
        "/services/0/instances/0/exchanges",
        "/services/0/instances/0/rate_per_s",
        "/services/0/instances/0/in_flight",
        "/services/0/instances/0/latency_s/p99",
        "/services/0/instances/0/srtt_s",
        "/services/0/instances/0/retransmit_share",
        "/services/1/client",
    ] {
        assert!(report.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn what_does_not_exist_yet_is_absent() {
    let report = value(&Sample::new().report());
    assert!(report.pointer("/alerts").is_none());
}

#[test]
fn every_kind_of_assessment_fulfils_the_schema_and_holds_no_null() {
    for (name, assessment) in assessments::all() {
        let report = value(&assessments::report(assessment));
        assert!(!holds_null(&report), "{name}");
    }
}

#[test]
fn verdict_and_advice_have_the_names_of_the_contract() {
    let report = value(&assessments::report(assessments::independent()));
    for name in [
        "verdict/cause",
        "verdict/confidence",
        "verdict/hedging_helps",
        "verdict/composition/independent/share",
        "verdict/evidence/0/name",
        "verdict/evidence/0/value",
        "verdict/evidence/0/ci/1",
        "verdict/evidence/0/threshold",
        "verdict/evidence/0/meaning",
        "verdict/summary",
        "recommendation/action",
        "recommendation/delay_s",
        "recommendation/budget_fraction",
        "recommendation/hedge_probability",
        "recommendation/max_attempts",
        "recommendation/expected/before/p99",
        "recommendation/expected/after/p999",
        "recommendation/expected/after_ci/p99/1",
        "recommendation/expected/decisive/after_s",
        "recommendation/expected/hedge_rate",
        "recommendation/expected/extra_load",
        "recommendation/conditions/0",
        "recommendation/warnings/0",
        "recommendation/instead/0",
        "hedging/observed",
        "hedging/rate",
        "ci_s/p50/0",
        "ci_s/p99/1",
        "instances/0/elevated",
    ] {
        assert!(report.pointer(&format!("/services/0/{name}")).is_some(), "{name}");
    }
    assert_eq!(report["question"]["metric"], "first-byte");
}

#[test]
fn a_server_is_told_to_ask_its_callers() {
    let report = value(&Sample::new().with_troubles().report());
    let served = &report["services"][1];
    assert_eq!(served["role"], "server");
    assert_eq!(served["verdict"]["cause"], "insufficient");
    assert_eq!(served["recommendation"]["action"], "wait");
    assert!(served["verdict"]["missing"].as_str().unwrap().contains("client's host"));
}

#[test]
fn the_window_is_in_wall_clock_time() {
    let report = value(&Sample::new().report());
    let window =
        json!({ "start": "2026-09-21T14:13:25.000Z", "end": "2026-09-21T14:13:35.000Z", "duration_s": 10.0 });
    assert_eq!(report["window"], window);
}

#[test]
fn what_was_lost_is_not_called_unmeasurable() {
    let report = value(&Sample::new().with_troubles().report());
    let exchanges = report["source"]["exchanges"].as_f64().unwrap();
    assert_eq!(report["source"]["unmeasurable_share"], json!(100.0 / (exchanges + 100.0)));
    assert_eq!(report["source"]["lost_events"], 1_234);
}

#[test]
fn a_quantile_of_too_few_exchanges_is_absent() {
    let quantiles = ["p50", "p90", "p95", "p99", "p999", "max"];
    for (count, there) in [
        (0, &[][..]),
        (1, &["max"]),
        (2, &["p50", "max"]),
        (10, &["p50", "p90", "max"]),
        (99, &["p50", "p90", "p95", "max"]),
        (100, &["p50", "p90", "p95", "p99", "max"]),
        (1_000, &["p50", "p90", "p95", "p99", "p999", "max"]),
    ] {
        let mut sample = Sample::new();
        sample.exchanges.clear();
        for number in 0..count {
            sample.add("192.0.2.1:80", 6_000_000_000 + number, 1_000_000);
        }
        let report = value(&sample.report());
        let latency = &report["services"][0]["latency_s"];
        for quantile in quantiles {
            assert_eq!(latency.get(quantile).is_some(), there.contains(&quantile), "{quantile} of {count}");
        }
    }
}

#[test]
fn the_demo_clients_own_timestamps_are_labelled() {
    let mut sample = Sample::new();
    sample.provenance = Provenance::of(SourceKind::DemoClient);
    let report = value(&sample.report());
    assert_eq!(report["source"]["kind"], "demo-client");
    assert!(report["source"]["note"].as_str().unwrap().contains("client's own timestamps"));
}

#[test]
fn the_instances_of_a_service_add_up_to_it() {
    let report = value(&Sample::new().with_troubles().report());
    let service = &report["services"][0];
    let instances = service["instances"].as_array().unwrap();
    let sum: u64 = instances.iter().map(|instance| instance["exchanges"].as_u64().unwrap()).sum();
    assert_eq!(service["exchanges"], sum);
    let counts = |of: &Value| -> Vec<u64> {
        let counts = of["latency_histogram"]["counts"].as_array().unwrap();
        counts.iter().map(|count| count.as_u64().unwrap()).collect()
    };
    let whole = counts(service);
    for (place, count) in whole.iter().enumerate() {
        assert_eq!(*count, instances.iter().map(|instance| counts(instance)[place]).sum::<u64>());
    }
    assert_eq!(whole.iter().sum::<u64>(), service["outcomes"]["ok"].as_u64().unwrap());
}
