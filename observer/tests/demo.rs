//! The first command of the README ends in a report everywhere, and leaves nothing behind.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::PathBuf,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// `nobody`, who may not load probes.
const UNPRIVILEGED: u32 = 65_534;

/// The program, at a place that everybody can reach.
struct Program {
    directory: TempDir,
}

impl Program {
    fn new() -> Self {
        let directory = TempDir::with_prefix("observer-demo-").unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_observer"), directory.path().join("observer")).unwrap();
        Self { directory }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("observer")
    }

    /// `observer demo` for a moment, as somebody who may not load probes.
    fn demo(&self) -> Command {
        let mut command = Command::new(self.path());
        command
            .args(["demo", "--duration", "1s"])
            .current_dir(&self.directory)
            .env("TMPDIR", self.directory.path())
            .stdin(Stdio::null());
        if rustix::process::geteuid().is_root() {
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        command
    }

    fn leftovers(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.directory).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| *path != self.path()).collect()
    }
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

fn assert_success(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn without_privileges_the_report_is_made_of_the_clients_own_timestamps_and_says_so() {
    let program = Program::new();
    let output = program.demo().arg("--json").output().unwrap();
    assert_success(&output);

    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["source"]["kind"], "demo-client");
    assert_eq!(report["source"]["degraded"][0]["what"], "the probes");
    let [service] = report["services"].as_array().unwrap().as_slice() else {
        panic!("not one service: {}", report["services"]);
    };
    assert_eq!(service["exchanges"], 300);
    let mut hosts: Vec<_> = service["instances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|instance| {
            assert_eq!(instance["exchanges"], 100, "replicas take turns");
            instance["address"].as_str().unwrap().split(':').next().unwrap()
        })
        .collect();
    hosts.sort_unstable();
    assert_eq!(hosts, ["127.0.0.11", "127.0.0.12", "127.0.0.13"]);

    let told = text(&output.stderr);
    assert!(told.contains("going on with the demo client's own timestamps"), "{told}");
    assert!(told.contains("observer doctor"), "{told}");
    assert_eq!(program.leftovers(), [PathBuf::new(); 0]);
}

#[test]
fn the_text_report_is_labelled_too() {
    let output = Program::new().demo().output().unwrap();
    assert_success(&output);
    let report = text(&output.stdout);
    assert!(report.contains("demo client"), "{report}");
    for host in ["127.0.0.11", "127.0.0.12", "127.0.0.13"] {
        assert!(report.contains(host), "{host} is missing:\n{report}");
    }
}

#[test]
fn the_demos_processes_do_not_outlive_it_even_if_it_is_killed() {
    let program = Program::new();
    let mut demo = program.demo().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut wait = |what: &str, is_so: &dyn Fn() -> bool| {
        while !is_so() {
            assert!(Instant::now() < deadline, "{what}");
            thread::sleep(Duration::from_millis(5));
        }
    };

    let is_running = |path: &PathBuf| -> bool {
        fs::read_link(path.join("exe")).is_ok_and(|exe| exe == program.path())
            && fs::read_to_string(path.join("cmdline")).is_ok_and(|arguments| arguments.contains("demo-"))
    };
    let children = || -> Vec<PathBuf> {
        let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        processes.filter(is_running).collect()
    };
    wait("three replicas and a client run", &|| children().len() == 4);
    demo.kill().unwrap();
    demo.wait().unwrap();
    wait("they end with whoever started them", &|| children().is_empty());
}
