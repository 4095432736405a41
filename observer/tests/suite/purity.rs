//! Statistics and reports know no clock, no file, no thread, no kernel and no terminal.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What is pure, below `src`.
const PURE: [&str; 4] = ["analysis", "ledger", "report", "simulation"];

/// What another program would embed: it does not even know addresses, colours or this program's edges.
const EMBEDDED: [&str; 2] = ["analysis", "simulation"];

/// What these must not name either.
const FORBIDDEN_THERE: [&str; 12] = [
    "std::net",
    "socket2",
    "clap",
    "anstyle",
    "ratatui",
    "crossterm",
    "tracing",
    "crate::capture",
    "crate::cli",
    "crate::demo",
    "crate::recording",
    "crate::settings",
];

const FORBIDDEN: [&str; 15] = [
    "std::fs",
    "std::time",
    "std::thread",
    "std::net::Tcp",
    "std::io",
    "std::env",
    "std::process",
    "aya",
    "rustix",
    "libc",
    "tokio",
    "rayon",
    "procfs",
    "Instant",
    "Timestamp::now",
];

#[test]
fn pure_modules_name_nothing_impure() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for folder in PURE {
        found.extend(named(&source.join(folder), &FORBIDDEN));
    }
    for folder in EMBEDDED {
        found.extend(named(&source.join(folder), &FORBIDDEN_THERE));
    }
    assert!(found.is_empty(), "these modules must stay pure:\n{}", found.join("\n"));
}

/// Where files below `folder` name one of these words.
fn named(folder: &Path, words: &[&str]) -> Vec<String> {
    let files = rust_files(folder);
    assert!(!files.is_empty(), "{} has no source files: is it still there?", folder.display());
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            for word in words.iter().filter(|word| names(line, word)) {
                found.push(format!("{}:{}: {word}", file.display(), number + 1));
            }
        }
    }
    found
}

/// Whether code on this line names `word` as a whole; comments may.
fn names(line: &str, word: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    code.match_indices(word).any(|(place, _)| {
        !code[..place].ends_with(is_word) && !code[place + word.len()..].starts_with(is_word)
    })
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn words_are_found_as_wholes_and_not_in_comments() {
    assert!(names("use std::fs::File;", "std::fs"));
    assert!(names("    aya::Ebpf::load(", "aya"));
    assert!(!names("let playable = true;", "aya"));
    assert!(!names("// std::fs is not used here", "std::fs"));
}
