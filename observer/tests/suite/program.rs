//! Running the program itself.

use std::{
    ffi::OsStr,
    process::{Command, Output},
};

use serde_json::Value;

/// The program, with an environment that sets none of its flags.
pub(crate) fn observer() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_observer"));
    command.env_clear();
    command
}

/// Runs the program to its end.
pub(crate) fn run(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    observer().args(arguments).output().unwrap()
}

/// What it printed on standard output.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it printed on standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Its exit code, with standard error in the message if it is another.
pub(crate) fn assert_exit(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
}

/// The report that it printed, which must fulfil the published schema.
pub(crate) fn json_report(output: &Output) -> Value {
    assert_exit(output, 0);
    let report = serde_json::from_slice(&output.stdout).unwrap();
    crate::json::assert_fulfils_schema(&report);
    report
}
