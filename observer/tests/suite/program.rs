//! Running the program itself.

use std::{
    ffi::OsStr,
    fs::{self, Permissions},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

/// The program, with an environment that sets none of its flags.
pub(crate) fn observer() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_observer"));
    command.env_clear();
    command
}

/// The program without privileges, in a folder of its own that anybody may write to and that is empty.
pub(crate) fn unprivileged_observer() -> (TempDir, Command) {
    let folder = tempfile::tempdir().unwrap();
    let everybody = Permissions::from_mode(0o777);
    fs::set_permissions(folder.path(), everybody.clone()).unwrap();
    // The build directory may be out of reach for anybody else.
    let program = folder.path().join("observer");
    fs::copy(env!("CARGO_BIN_EXE_observer"), &program).unwrap();
    let place = folder.path().join("place");
    fs::create_dir(&place).unwrap();
    fs::set_permissions(&place, everybody).unwrap();
    let mut command = Command::new(program);
    command.env_clear().current_dir(&place);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    (folder, command)
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
