//! What is generated from the code and committed is what the code generates.

use std::{collections::BTreeSet, fs, path::Path};

use crate::program::{assert_exit, run, stdout};

/// Commands with a manual page of their own.
const COMMANDS: [&str; 9] =
    ["report", "record", "analyze", "simulate", "demo", "doctor", "schema", "completions", "man"];

fn assert_committed(path: &str, arguments: &[&str]) {
    let output = run(arguments);
    assert_exit(&output, 0);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        stdout(&output) == committed,
        "observer/{path} is out of date; write it anew: cargo run -- {} > observer/{path}",
        arguments.join(" ")
    );
}

#[test]
fn schemas_are_committed() {
    for output in ["report", "simulation", "preset"] {
        assert_committed(&format!("schema/{output}.json"), &["schema", output]);
    }
}

#[test]
fn manual_pages_are_committed() {
    assert_committed("man/observer.1", &["man"]);
    for command in COMMANDS {
        assert_committed(&format!("man/observer-{command}.1"), &["man", command]);
    }
}

#[test]
fn no_manual_page_is_left_over() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    let found: BTreeSet<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut expected: BTreeSet<_> = COMMANDS.map(|command| format!("observer-{command}.1")).into();
    expected.insert("observer.1".into());
    assert_eq!(found, expected);
}

#[test]
fn completions_exist_for_common_shells() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(["completions", shell]);
        assert_exit(&output, 0);
        assert!(stdout(&output).contains("analyze"), "{shell}");
    }
}
