//! Statistics and reports know no clock, no file, no thread, no kernel and no terminal.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What is pure, below `src`.
const PURE: [&str; 3] = ["ledger", "report", "simulation"];

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
        let files = rust_files(&source.join(folder));
        assert!(!files.is_empty(), "{folder} has no source files: is it still there?");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for (number, line) in text.lines().enumerate() {
                for word in FORBIDDEN.into_iter().filter(|word| names(line, word)) {
                    found.push(format!("{}:{}: {word}", file.display(), number + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "these modules must stay pure:\n{}", found.join("\n"));
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
