//! Reports from recordings.

use std::{
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use tempfile::TempDir;

use crate::program::{assert_exit, json_report, observer, run, stderr, stdout};

const HEADER: &str = "start_ns,service,instance,latency_ns,outcome";

/// A folder with one CSV of these rows.
fn csv(rows: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recording.csv");
    fs::write(&file, format!("{HEADER}\n{}\n", rows.join("\n"))).unwrap();
    (folder, file)
}

fn good_rows() -> Vec<String> {
    let row = |number: u64| {
        let instance = number % 2 + 1;
        let latency = 1_000_000 + number * 37 % 1_000 * 1_000;
        format!("{},search,192.0.2.{instance}:80,{latency},ok", number * 1_000_000)
    };
    (0..2_000).map(row).collect()
}

#[test]
fn a_table_becomes_a_report() {
    let rows = good_rows();
    let (_folder, file) = csv(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    let report = json_report(&run(["analyze", "--json", file.to_str().unwrap()]));
    assert_eq!(report["source"]["kind"], "table");
    assert_eq!(report["source"]["exchanges"], 2_000);
    let service = &report["services"][0];
    assert_eq!(service["name"], "search");
    assert_eq!(service["instances"][0]["address"], "192.0.2.1:80");
    assert_eq!(service["instances"][1]["exchanges"], 1_000);
    assert_eq!(service["latency_s"]["max"], 0.001_999);
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let mut rows: Vec<_> = good_rows();
    let (_forward_folder, forward) = csv(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    rows.reverse();
    let (_backward_folder, backward) = csv(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    let report = |file: PathBuf| json_report(&run(["analyze", "--json", file.to_str().unwrap()]));
    assert_eq!(report(forward), report(backward));
}

#[test]
fn a_bad_row_ends_it_without_a_partial_report() {
    let (_folder, file) = csv(&["1,search,192.0.2.1:80,5000,ok", "2,search,192.0.2.1:80,soon,ok"]);
    let output = run(["analyze", file.to_str().unwrap()]);
    assert_exit(&output, 2);
    assert_eq!(stdout(&output), "");
    for word in ["recording.csv", "line 3", "latency_ns", "soon"] {
        assert!(stderr(&output).contains(word), "'{word}' in {}", stderr(&output));
    }
}

#[test]
fn bad_rows_are_skipped_and_counted_on_demand() {
    let (_folder, file) = csv(&["1,search,192.0.2.1:80,5000,ok", "2,search,192.0.2.1:80,soon,ok"]);
    let arguments = ["analyze", "--skip-bad-rows", "--json", file.to_str().unwrap()];
    let report = json_report(&run(arguments));
    assert_eq!(report["source"]["exchanges"], 1);
    assert_eq!(report["source"]["skipped_rows"], 1);
    assert_exit(&run(arguments.iter().chain(&["--strict"])), 4);
}

#[test]
fn several_files_are_taken_together() {
    let (_folder, one) = csv(&["1000,search,192.0.2.1:80,5000,ok"]);
    let (_another_folder, another) = csv(&["2000,search,192.0.2.2:80,7000,ok"]);
    let report = json_report(&run(["analyze", "--json", one.to_str().unwrap(), another.to_str().unwrap()]));
    assert_eq!(report["source"]["exchanges"], 2);
    assert_eq!(report["services"][0]["instances"].as_array().unwrap().len(), 2);
}

#[test]
fn ports_select_instances_and_silent_ones_are_told() {
    let (_folder, file) = csv(&["1,search,192.0.2.1:80,5000,ok", "2,search,192.0.2.1:81,6000,ok"]);
    let output = run(["analyze", "--json", "--port", "81,82", file.to_str().unwrap()]);
    let report = json_report(&output);
    assert_eq!(report["source"]["exchanges"], 1);
    assert_eq!(report["selection"]["ports_not_seen"], serde_json::json!([82]));
    assert!(stderr(&output).contains("port 82"), "{}", stderr(&output));
}

#[test]
fn requests_that_still_waited_are_in_flight() {
    let (_folder, file) =
        csv(&["1000,search,192.0.2.1:80,5000,ok", "2000,search,192.0.2.1:80,900000,pending"]);
    let report = json_report(&run(["analyze", "--json", file.to_str().unwrap()]));
    let service = &report["services"][0];
    assert_eq!(service["in_flight"], 1);
    assert_eq!(service["pending_oldest_s"], 0.000_9);
    assert_eq!(service["censored_share"], 0.5);
    // It waits for longer than the answered one took: what is known of the longest is a bound.
    let latency = &service["latency_s"];
    assert_eq!(latency, &serde_json::json!({ "p50": 0.000_005, "max": 0.000_9, "at_least": ["max"] }));
}

#[test]
fn a_format_that_the_file_contradicts_is_refused() {
    let (_folder, file) = csv(&["1,search,192.0.2.1:80,5000,ok"]);
    let output = run(["analyze", "--from", "parquet", file.to_str().unwrap()]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("--from"), "{}", stderr(&output));
}

#[test]
fn a_report_goes_into_a_file_that_is_complete() {
    let (folder, file) = csv(&["1,search,192.0.2.1:80,5000,ok"]);
    let target = folder.path().join("report.json");
    let output = run(["analyze", "--json", "--output", target.to_str().unwrap(), file.to_str().unwrap()]);
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), "");
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(&target).unwrap()).unwrap();
    assert_eq!(report["source"]["exchanges"], 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_device_is_written_and_not_replaced() {
    let (_folder, file) = csv(&["1,search,192.0.2.1:80,5000,ok"]);
    assert_exit(&run(["analyze", "--output", "/dev/null", file.to_str().unwrap()]), 0);
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn standard_output_by_its_name_is_appended_to() {
    let (folder, file) = csv(&["1,search,192.0.2.1:80,5000,ok"]);
    let target = folder.path().join("target");
    fs::write(&target, "before\n").unwrap();
    let stdout = File::options().append(true).open(&target).unwrap();
    let arguments = ["analyze", "--json", "--output", "/dev/stdout", file.to_str().unwrap()];
    assert_exit(&observer().args(arguments).stdout(stdout).output().unwrap(), 0);
    let text = fs::read_to_string(&target).unwrap();
    assert!(text.starts_with("before\n{") && text.ends_with("}\n"), "{text}");
}

/// Runs it with these bytes on a pipe.
fn piped(bytes: &[u8], name: &str) -> std::process::Output {
    let mut command = observer();
    command.args(["analyze", "--json", name]).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Whoever is refused does not read to the end.
        scope.spawn(move || drop(pipe.write_all(bytes)));
        child.wait_with_output().unwrap()
    })
}

#[test]
fn recordings_come_through_pipes() {
    let (folder, table) = csv(&["1,search,192.0.2.1:80,5000,ok"]);
    let parquet = folder.path().join("recording.parquet");
    write_parquet(&parquet);
    for file in [table, parquet] {
        let bytes = fs::read(file).unwrap();
        for name in ["-", "/dev/stdin"] {
            assert_eq!(json_report(&piped(&bytes, name))["source"]["exchanges"], 1);
        }
    }
}

fn write_parquet(path: &Path) {
    use observer::{
        exchange::{Exchange, Names},
        provenance::{Provenance, SourceKind},
        recording::Recorder,
    };
    let mut names = Names::default();
    let (service, instance) = (names.id("search"), names.id("192.0.2.1:80"));
    let exchange =
        Exchange::new(observer_common::Timestamp(1), service, instance, observer_common::Nanoseconds(5_000));
    let mut recorder = Recorder::create(path).unwrap();
    recorder.write(&exchange, &names).unwrap();
    recorder.finish(&Provenance::of(SourceKind::Table)).unwrap();
}

#[test]
fn what_never_ends_is_refused() {
    let output = run(["analyze", "/dev/zero"]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("'/dev/zero', line 1"), "{}", stderr(&output));
}

#[test]
fn garbage_is_not_printed_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("garbage.csv");
    fs::write(&file, ["x".repeat(500), ",y".repeat(50_000)].concat()).unwrap();
    let output = run(["analyze", file.to_str().unwrap()]);
    assert_exit(&output, 2);
    let message = stderr(&output);
    assert!(message.contains("no exchange log") && message.len() < 1_000, "{} bytes", message.len());
}

#[test]
fn text_is_plain_where_nobody_looks_and_coloured_on_demand() {
    let (_folder, file) = csv(&["1,search,192.0.2.1:80,5000,ok"]);
    let path = file.to_str().unwrap();
    assert!(!stdout(&run(["analyze", path])).contains('\x1b'));
    assert!(stdout(&run(["analyze", "--color", "always", path])).contains('\x1b'));
}

#[test]
fn a_latency_below_the_resolution_of_a_log_is_not_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("access.log");
    let line = "[2025-07-28T10:14:14.655Z] \"GET / HTTP/2\" 200 - 0 5 9 0 \"-\" \"-\" \"-\" \"items\" \"192.0.2.1:80\"\n";
    fs::write(&file, line).unwrap();
    let report = stdout(&run(["analyze", file.to_str().unwrap()]));
    assert!(report.contains("< 1 ms"), "{report}");
}

#[test]
fn access_logs_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("access.log");
    let line = "[2025-07-28T10:14:14.655Z] \"GET /items/17 HTTP/2\" 200 - 0 5 9 7 \"-\" \"-\" \"-\" \"items\" \"192.0.2.1:80\"";
    fs::write(&file, format!("{line}\nnot one\n{line}\n")).unwrap();
    let path = file.to_str().unwrap();
    let output = run(["analyze", path]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("access.log', line 2: found 'not one'"), "{}", stderr(&output));
    for from in ["auto", "envoy"] {
        let report = json_report(&run(["analyze", "--from", from, "--skip-bad-rows", "--json", path]));
        assert_eq!(report["source"]["kind"], "access-log");
        assert_eq!(report["source"]["exchanges"], 2);
        assert_eq!(report["source"]["skipped_rows"], 1);
        assert_eq!(report["window"]["start"], "2025-07-28T10:14:14.655Z");
        assert_eq!(report["services"][0]["latency_s"]["max"], 0.007);
        assert!(report["source"]["degraded"][0]["consequence"].as_str().unwrap().contains("read lag"));
    }
    assert_exit(&run(["analyze", "--from", "nginx", path]), 2);
    assert_exit(&run(["analyze", "--from", "csv", path]), 2);
    assert!(stdout(&run(["analyze", "--skip-bad-rows", path])).contains("from an access log"));
}

#[test]
fn a_file_that_is_named_twice_is_refused() {
    let (folder, file) = csv(&["1,search,192.0.2.1:80,5000,ok"]);
    let link = folder.path().join("link.csv");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for again in [&file, &link] {
        let output = run([Path::new("analyze"), &file, again]);
        assert_exit(&output, 2);
        assert!(stderr(&output).contains("name it once"), "{}", stderr(&output));
    }
}

#[test]
fn what_is_not_recognised_may_be_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("some.log");
    fs::write(&file, "nothing of the kind\n").unwrap();
    let output = run(["analyze", file.to_str().unwrap()]);
    assert_exit(&output, 2);
    let message = stderr(&output);
    assert!(
        message.contains("--from what: one of csv, parquet, pcap, nginx, haproxy, envoy, jtl"),
        "{message}"
    );
    let message = stderr(&run(["analyze", "--from", "csv", file.to_str().unwrap()]));
    assert!(!message.contains("--from"), "{message}");
}

#[test]
fn another_encoding_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("access.log");
    for (bytes, encoding) in
        [(&b"\xff\xfe{\0"[..], "UTF-16"), (b"\xfe\xff\0{", "UTF-16"), (b"\xff\xfe\0\0{\0\0\0", "UTF-32")]
    {
        fs::write(&file, bytes).unwrap();
        let output = run(["analyze", file.to_str().unwrap()]);
        assert_exit(&output, 2);
        let message = stderr(&output);
        assert!(message.contains(&format!("encoded in {encoding}: make it UTF-8 first")), "{message}");
    }
}

#[test]
fn what_the_decoder_panics_on_is_refused_in_one_sentence() {
    use observer::{
        capture::table::{self, TableOptions},
        exchange::Names,
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recording.parquet");
    write_parquet(&file);
    let whole = fs::read(&file).unwrap();
    let panics = |position: usize, bits: u8| {
        let mut damaged = whole.clone();
        damaged[position] ^= bits;
        fs::write(&file, damaged).unwrap();
        let read = table::read(&file, &TableOptions::default(), &mut Names::default(), &mut |_, _| {});
        read.is_err_and(|error| error.to_string().contains("a page contradicts itself"))
    };
    let places = (0..whole.len()).flat_map(|position| [0xff, 0x55, 0x80].map(|bits| (position, bits)));
    assert!(places.into_iter().any(|(position, bits)| panics(position, bits)), "the decoder is mended");
    let output = run(["analyze", file.to_str().unwrap()]);
    assert_exit(&output, 2);
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
}

#[test]
fn what_is_compressed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("access.log.gz");
    fs::write(&file, [0x1f, 0x8b, 8, 0]).unwrap();
    for from in ["auto", "nginx", "csv"] {
        let output = run(["analyze", "--from", from, file.to_str().unwrap()]);
        assert_exit(&output, 2);
        let message = stderr(&output);
        assert!(message.contains("compressed with gzip: decompress it first"), "{message}");
    }
}

#[test]
fn a_report_in_markdown_goes_to_standard_output_or_to_a_file() {
    let rows = good_rows();
    let (folder, file) = csv(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    let file = file.to_str().unwrap();
    let output = run(["analyze", "--format", "markdown", "--color", "always", file]);
    assert_exit(&output, 0);
    let printed = stdout(&output);
    for words in ["## observer ", "### service search", "| 192.0.2.1:80 | ", "### How it was measured"] {
        assert!(printed.contains(words), "'{words}' in {printed}");
    }
    assert!(!printed.contains('\u{1b}'), "{printed}");
    let place = folder.path().join("report.md");
    let output = run(["analyze", "--format", "markdown", "--output", place.to_str().unwrap(), file]);
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), "");
    assert_eq!(fs::read_to_string(place).unwrap(), printed);
    let output = observer().args(["analyze", file]).env("OBSERVER_FORMAT", "markdown").output().unwrap();
    assert_eq!(stdout(&output), printed);
}
