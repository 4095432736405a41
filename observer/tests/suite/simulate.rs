//! Simulations: as people and programs see them.

use std::{fs, path::PathBuf};

use observer::{
    report::schema,
    simulation::{presets::PresetComparison, results::Comparison},
};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{assert_exit, observer, run, stderr, stdout};

/// Little enough to be quick, and enough for every quantile.
const BRIEFLY: [&str; 5] = ["simulate", "--duration", "4s", "--seeds", "3"];

fn briefly<'a>(more: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    BRIEFLY.into_iter().chain(more).collect()
}

fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert_exit(&output, 0);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn assert_fulfils(schema: &schemars::Schema, document: &Value) {
    let validator = jsonschema::validator_for(&serde_json::to_value(schema).unwrap()).unwrap();
    let errors: Vec<_> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

fn assert_snapshot(name: &str, text: &str) {
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(name, text); });
}

fn assert_refused(arguments: &[&str], words: &[&str]) {
    let output = run(arguments);
    assert_exit(&output, 2);
    assert_eq!(stdout(&output), "", "{arguments:?}");
    for word in words {
        assert!(stderr(&output).contains(word), "'{word}' in {}", stderr(&output));
    }
}

/// A folder with one file.
fn file(name: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, text).unwrap();
    (folder, file)
}

/// A recording in which every request takes 7 ms.
fn recording() -> (TempDir, PathBuf) {
    let rows: Vec<_> = (0..2_000).map(|row| format!("{row}000000,192.0.2.1:80,7000000")).collect();
    file("recording.csv", &format!("start_ns,instance,latency_ns\n{}\n", rows.join("\n")))
}

#[test]
fn presets_are_listed_one_a_line() {
    let output = run(["simulate", "--preset", "list"]);
    assert_exit(&output, 0);
    assert_snapshot("preset_list", &stdout(&output));
}

#[test]
fn presets_print_published_against_simulated() {
    for name in ["10x8-2500", "sampling-98-2"] {
        let output = run(["simulate", "--preset", name]);
        assert_exit(&output, 0);
        assert_snapshot(&format!("preset_{name}"), &stdout(&output));
    }
}

#[test]
fn presets_in_json_fulfil_their_schema() {
    for name in ["sampling-98-2", "adaptive-benchmark"] {
        let document = json(&["simulate", "--preset", name, "--json", "--seeds", "3"]);
        assert_fulfils(&schema::of::<PresetComparison>(), &document);
        assert_snapshot(&format!("preset_{name}_json"), &serde_json::to_string_pretty(&document).unwrap());
    }
}

#[test]
fn policies_are_compared_in_a_table() {
    let policies =
        ["none", "hedge:30ms,budget=5%", "copies:2,cancel=1ms", "none:deadline=20ms", "retry:30ms"];
    let arguments = policies.iter().flat_map(|policy| ["--policy", policy]);
    let output = run(briefly(arguments));
    assert_exit(&output, 0);
    assert_snapshot("comparison", &stdout(&output));
}

#[test]
fn comparisons_in_json_fulfil_their_schema() {
    let mut document = json(&briefly(["--json", "--policy", "hedge:30ms"]));
    assert_fulfils(&schema::of::<Comparison>(), &document);
    let slices = document.pointer_mut("/policies/0/over_time").unwrap().as_array_mut().unwrap();
    assert_eq!(slices.len(), 60);
    slices.truncate(1);
    assert_snapshot("comparison_json", &serde_json::to_string_pretty(&document).unwrap());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let with = |threads: &str| {
        let output = observer()
            .args(briefly(["--json", "--policy", "hedge:p95 copies:2 tied"]))
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        assert_exit(&output, 0);
        stdout(&output)
    };
    assert_eq!(with("1"), with("3"));
}

#[test]
fn a_seed_decides_and_another_one_differs() {
    let with = |seed| json(&briefly(["--json", "--seed", seed]));
    assert_eq!(with("5"), with("5"));
    assert_ne!(with("5")["policies"], with("6")["policies"]);
}

#[test]
fn a_recording_gives_its_latencies_as_service_times() {
    let (_folder, path) = recording();
    let output =
        run(briefly(["--json", "--slots", "1000", "--policy", "none", "--input", path.to_str().unwrap()]));
    assert_exit(&output, 0);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["system"]["service_mean_s"], 0.007);
    assert!((document["policies"][0]["latency_s"]["p99"]["median"].as_f64().unwrap() - 0.007).abs() < 1e-5);
    assert!(stderr(&output).contains("latencies of the input"), "{}", stderr(&output));
}

#[test]
fn a_report_gives_the_latencies_of_its_busiest_service() {
    let (folder, path) = recording();
    let report = folder.path().join("report.json");
    let wrote = run(["analyze", "--json", path.to_str().unwrap(), "--output", report.to_str().unwrap()]);
    assert_exit(&wrote, 0);
    let document = json(&briefly(["--json", "--policy", "none", "--input", report.to_str().unwrap()]));
    // Its histogram has two columns an octave, one of which holds everything: 6.3 to 8.4 ms.
    let mean = document["system"]["service_mean_s"].as_f64().unwrap();
    assert!((0.006_29..0.008_4).contains(&mean), "{mean}");
}

#[test]
fn input_that_is_no_distribution_is_refused() {
    let none = file("empty.csv", "start_ns,instance,latency_ns,outcome\n1,192.0.2.1:80,5,pending\n");
    let no_report = file("other.json", "{\"services\": 3}");
    let no_services = file("nothing.json", "{\"services\": []}");
    for ((_folder, path), words) in [
        (none, ["--input", "no answered request"]),
        (no_report, ["--input", "--json"]),
        (no_services, ["--input", "no answered request"]),
    ] {
        assert_refused(&["simulate", "--input", path.to_str().unwrap()], &words);
    }
    assert_refused(&["simulate", "--input", "/no/such/file"], &["/no/such/file", "No such file"]);
}

#[test]
fn nonsense_is_refused_with_the_flag_the_reason_and_an_example() {
    for (flag, value, words) in [
        ("--policy", "hedge:30ms,budget=120%", ["120%", "from 0% to 100%"]),
        ("--policy", "hedge:30", ["'30'", "10ms"]),
        ("--policy", "pray", ["'pray'", "hedge:30ms"]),
        ("--policy", "copies:2000", ["2000 copies", "take fewer"]),
        ("--service", "", ["no parts", "10ms"]),
        ("--service", "98%:10ms", ["98.0000%", "correct"]),
        ("--rate", "2500", ["'2500'", "2500/s"]),
        ("--rate", "-1/s", ["rate", "2500/s"]),
        ("--arrivals", "closed", ["clients", "closed:100"]),
        ("--arrivals", "bursty:factor=11", ["more than 1 times", "smaller"]),
        ("--instances", "0", ["from 1", "1000000"]),
        ("--duration", "30", ["unit", "30s"]),
        ("--requests", "0", ["from 1", "1000000000"]),
        ("--seeds", "0", ["from 1", "10000"]),
        ("--preset", "11x8", ["11x8", "10x8-2500"]),
    ] {
        assert_refused(&["simulate", &format!("{flag}={value}")], &[&[flag], &words[..]].concat());
    }
}

#[test]
fn more_than_is_sensible_is_refused() {
    let arguments = ["simulate", "--fanout", "1000", "--rate", "1000/s", "--policy", "copies:100"];
    assert_refused(&arguments, &["--requests", "lower it to 10000"]);
}

#[test]
fn a_preset_is_a_system_of_its_own() {
    assert_refused(&["simulate", "--preset", "bigtable", "--rate", "1/s"], &["--preset", "--rate"]);
    assert_refused(&["simulate", "--preset", "bigtable", "--policy", "none"], &["--preset", "--policy"]);
}

#[test]
fn an_overloaded_system_is_warned_of_and_ends() {
    let output = run(briefly(["--rate", "20000/s", "--requests", "5000", "--policy", "hedge:p95"]));
    assert_exit(&output, 0);
    assert!(stderr(&output).contains("warning: the system is offered 331 %"), "{}", stderr(&output));
    assert!(stderr(&output).contains("the limit of 5000 requests"), "{}", stderr(&output));
    assert!(stdout(&output).contains("ended by the limit of 5,000 requests"));
}

#[test]
fn copies_that_overload_are_warned_of() {
    let output = run(briefly(["--policy", "copies:3"]));
    assert!(stderr(&output).contains("warning: 'copies:3' offers 124 %"), "{}", stderr(&output));
}

#[test]
fn a_delay_below_the_median_is_warned_of() {
    let output = run(briefly(["--policy", "hedge:9ms"]));
    assert_exit(&output, 0);
    for word in ["warning: 'hedge:9ms'", "median", "10 ms", "p95"] {
        assert!(stderr(&output).contains(word), "'{word}' in {}", stderr(&output));
    }
    assert_eq!(stderr(&run(briefly(["--policy", "hedge:10ms"]))), "");
}

#[test]
fn a_delay_that_is_a_quantile_is_named_with_it() {
    let told = stderr(&run(briefly(["--policy", "hedge:p95"])));
    assert!(told.contains("'hedge:30.902ms' waits for the p95 of the service time"), "{told}");
}

#[test]
fn variables_stand_for_flags() {
    let mut command = observer();
    command.args(briefly(["--json"])).env("OBSERVER_POLICY", "none copies:2").env("OBSERVER_RATE", "100/s");
    let output = command.output().unwrap();
    assert_exit(&output, 0);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["system"]["rate_per_s"], 100.0);
    assert_eq!(document["policies"][1]["policy"], "copies:2");
}

#[test]
fn a_plot_shows_latency_against_load_and_over_time() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("plot.svg");
    let arguments = ["--json", "--requests", "500", "--seeds", "1", "--plot", plot.to_str().unwrap()];
    let document = json(&[&["simulate"], &arguments[..]].concat());
    assert_fulfils(&schema::of::<Comparison>(), &document);
    assert_eq!(document["against_load"].as_array().unwrap().len(), 11);
    let picture = fs::read_to_string(&plot).unwrap();
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"), "{picture}");
    for text in ["latency against load", "latency over time", "hedge:30.902ms,budget=5%", "p99"] {
        assert!(picture.contains(text), "{text}");
    }
}

#[test]
fn a_closed_loop_has_no_load_to_be_plotted_against() {
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("plot.svg");
    let arguments = briefly(["--json", "--arrivals", "closed:50", "--plot", plot.to_str().unwrap()]);
    let document = json(&arguments);
    assert_eq!(document.get("against_load"), None);
    let picture = fs::read_to_string(&plot).unwrap();
    assert!(picture.contains("over time") && !picture.contains("against load"));
}
