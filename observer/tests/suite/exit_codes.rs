//! Exit codes and messages: one sentence that names the thing, the reason and the next step.

use std::{fs, io, process::Stdio};

use crate::program::{assert_exit, observer, run, stderr, stdout, unprivileged_observer};

fn assert_refused(arguments: &[&str], code: i32, words: &[&str]) {
    let output = run(arguments);
    assert_exit(&output, code);
    assert_eq!(stdout(&output), "", "{arguments:?}");
    for word in words {
        assert!(stderr(&output).contains(word), "'{word}' in {}", stderr(&output));
    }
}

#[test]
fn a_duration_without_a_unit_is_refused_with_a_hint() {
    assert_refused(&["report", "--duration", "60"], 2, &["--duration", "'60s'"]);
}

#[test]
fn a_port_out_of_range_is_refused() {
    assert_refused(&["report", "--port", "99999"], 2, &["--port", "65535"]);
    assert_refused(&["report", "--port", "0"], 2, &["--port"]);
}

#[test]
fn a_number_out_of_range_is_refused_with_what_can_be_written() {
    for number in ["0", "-1", "1e9"] {
        let words = ["--fanout", number, "a whole number from 1 to 4294967295, such as 20"];
        assert_refused(&["analyze", "x.csv", "--fanout", number], 2, &words);
    }
    assert_refused(&["simulate", "--seed", "-1"], 2, &["--seed", "a whole number from 0 to"]);
    assert_refused(&["report", "--pid", "-1"], 2, &["--pid", "a whole number from 0 to 4294967295"]);
}

#[test]
fn a_demo_that_is_too_short_to_see_anything_is_refused() {
    assert_refused(&["demo", "--duration", "1ns"], 2, &["--duration 1ns", "too short", "34ms"]);
    assert_refused(&["demo", "--duration", "1s", "--rate", "1"], 2, &["--duration 1s", "10s"]);
}

#[test]
fn only_reports_are_printed_in_markdown() {
    for command in ["simulate", "doctor"] {
        assert_refused(&[command, "--format", "markdown"], 2, &["'markdown'", "text, json, jsonl"]);
    }
}

#[test]
fn several_reports_may_follow_one_another_in_markdown_but_not_in_json() {
    assert_refused(&["report", "--interval", "1s", "--json"], 2, &["--interval", "--format jsonl"]);
    // Without privileges it gets as far as the probes.
    let (_folder, mut command) = unprivileged_observer();
    let output = command.args(["report", "--interval", "1s", "--format", "markdown"]).output().unwrap();
    assert_exit(&output, 3);
}

#[test]
fn a_pattern_that_cannot_be_understood_is_named() {
    assert_refused(&["report", "--comm", "["], 2, &["'['", "man 7 glob"]);
}

#[test]
fn a_recording_that_is_not_there_is_named() {
    assert_refused(&["analyze", "/no/such/file.csv"], 2, &["/no/such/file.csv", "No such file"]);
}

#[test]
fn an_output_that_cannot_be_written_is_told_before_anything_is_observed() {
    assert_refused(&["report", "--output", "/no/such/directory/x"], 2, &["/no/such/directory/x"]);
    assert_refused(&["record", "--output", "/no/such/directory/x.csv"], 2, &["/no/such/directory/x.csv"]);
    assert_refused(&["record", "--output", "x.xlsx"], 2, &["x.xlsx", ".parquet", ".csv"]);
}

#[test]
fn a_command_without_a_manual_page_is_named() {
    assert_refused(&["man", "demo-part"], 2, &["'demo-part'"]);
}

#[test]
fn variables_stand_for_flags() {
    let output = observer().arg("report").env("OBSERVER_DURATION", "60").output().unwrap();
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("'60s'"), "{}", stderr(&output));
}

#[test]
fn a_closed_pipe_is_success() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let output =
        observer().args(["schema", "report"]).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_exit(&output, 0);
    assert_eq!(stderr(&output), "");
}

#[test]
fn help_that_cannot_be_printed_is_a_failure_while_running() {
    for arguments in [&["--help"][..], &["report", "--help"], &["--version"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = observer().args(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_exit(&output, 1);
        assert!(stderr(&output).contains("standard output"), "{}", stderr(&output));
    }
}

#[test]
fn a_message_names_what_is_hostile_on_one_line() {
    assert_refused(&["analyze", "no\u{1b}[2J\nobserver: fine"], 2, &[r"'no\u{1b}[2J\u{a}observer: fine'"]);
}

#[test]
fn a_cause_is_said_once() {
    let message = stderr(&run(["report", "--output", "/no/such/directory/x"]));
    assert_eq!(message.matches("No such file").count(), 1, "{message}");
}

#[test]
fn a_full_device_is_a_failure_while_running() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = observer().args(["schema", "report"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_exit(&output, 1);
    assert!(stderr(&output).contains("standard output"), "{}", stderr(&output));
}

#[test]
fn without_privileges_this_host_cannot_be_observed_and_nothing_is_left_behind() {
    let (folder, mut command) = unprivileged_observer();
    let output = command.args(["record", "--output", "x.parquet", "--duration", "1s"]).output().unwrap();
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("CAP_BPF"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(folder.path().join("place")).unwrap().count(), 0);
}
