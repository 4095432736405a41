//! The command line, as people see it.

use crate::program::{assert_exit, run, stderr, stdout};

fn assert_help(command: &str) {
    let output = run([command, "--help"]);
    assert_exit(&output, 0);
    insta::with_settings!({omit_expression => true}, {
        insta::assert_snapshot!(format!("help_{command}"), stdout(&output));
    });
}

#[test]
fn the_program_says_what_it_can_do() {
    let output = run(["--help"]);
    assert_exit(&output, 0);
    insta::with_settings!({omit_expression => true}, {
        insta::assert_snapshot!("help", stdout(&output));
    });
}

#[test]
fn every_command_says_what_it_can_do() {
    for command in
        ["report", "record", "analyze", "simulate", "demo", "doctor", "schema", "completions", "man"]
    {
        assert_help(command);
    }
}

#[test]
fn help_is_also_a_command() {
    assert_eq!(stdout(&run(["help"])), stdout(&run(["--help"])));
    let output = run(["help", "analyze"]);
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), stdout(&run(["analyze", "--help"])));
    assert_exit(&run(["help", "top"]), 2);
}

#[test]
fn without_a_command_help_is_printed_and_it_is_wrong_usage() {
    let output = run([] as [&str; 0]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("Usage:"));
    assert_eq!(stdout(&output), "");
}

#[test]
fn what_does_not_exist_yet_is_refused() {
    for command in ["top", "run", "snippet"] {
        assert_exit(&run([command]), 2);
    }
}
