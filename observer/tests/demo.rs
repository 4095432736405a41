//! The first command of the README ends in a report everywhere, and leaves nothing behind.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::PathBuf,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// `nobody`, who may not load probes.
const UNPRIVILEGED: u32 = 65_534;
const HOSTS: [&str; 3] = ["127.0.0.11", "127.0.0.12", "127.0.0.13"];

/// The program, at a place that everybody can reach.
struct Program {
    directory: TempDir,
}

impl Program {
    fn new() -> Result<Self> {
        let directory = TempDir::with_prefix("observer-demo-")?;
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o1777))?;
        // A process of its own copies it: a program that a forked child still holds open for writing does not run.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_observer")).arg(directory.path()).status()?;
        ensure!(copied.success(), "the program cannot be copied: {copied}");
        Ok(Self { directory })
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
            .env_clear()
            .env("TMPDIR", self.directory.path())
            .stdin(Stdio::null());
        if rustix::process::geteuid().is_root() {
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        command
    }

    /// What it printed on standard output and standard error; it must have succeeded.
    fn output(&self, arguments: &[&str]) -> Result<(String, String)> {
        let Output { status, stdout, stderr } = self.demo().args(arguments).output()?;
        let (stdout, stderr) = (String::from_utf8(stdout)?, String::from_utf8(stderr)?);
        ensure!(status.code() == Some(0), "{status}: {stderr}");
        Ok((stdout, stderr))
    }

    /// What lies beside the program.
    fn leftovers(&self) -> Result<Vec<PathBuf>> {
        let mut leftovers = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            leftovers.push(entry?.path());
        }
        leftovers.retain(|path| *path != self.path());
        Ok(leftovers)
    }

    /// The processes that a demo of this program has started and that run now.
    fn children(&self) -> Result<usize> {
        let mut children = 0;
        for entry in fs::read_dir("/proc")? {
            let process = entry?.path();
            // A process that has ended meanwhile is none.
            let program = fs::read_link(process.join("exe")).unwrap_or_default();
            let arguments = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
            let is_child = arguments.split('\0').nth(1).is_some_and(|command| command.starts_with("demo-"));
            children += usize::from(is_child && program == self.path());
        }
        Ok(children)
    }
}

#[test]
fn without_privileges_the_report_is_made_of_the_clients_own_timestamps_and_says_so() -> Result<()> {
    let program = Program::new()?;
    let (report, told) = program.output(&["--json"])?;

    let report: Value = serde_json::from_str(&report)?;
    assert_eq!(report["source"]["kind"], "demo-client");
    assert_eq!(report["source"]["degraded"][0]["what"], "probes");
    assert_eq!(report["services"].as_array().map(Vec::len), Some(1), "{}", report["services"]);
    let service = &report["services"][0];
    let exchanges = service["exchanges"].as_u64().context("no exchanges")?;
    assert!(exchanges > 200, "300 a second arrive on average, not {exchanges}");
    let mut hosts = Vec::new();
    for instance in service["instances"].as_array().context("no instances")? {
        let turns = instance["exchanges"].as_u64().context("no exchanges")?;
        assert!(turns.abs_diff(exchanges / 3) <= 1, "replicas take turns: {turns} of {exchanges}");
        let (host, _) =
            instance["address"].as_str().and_then(|address| address.split_once(':')).context("no address")?;
        hosts.push(host);
    }
    hosts.sort_unstable();
    assert_eq!(hosts, HOSTS);

    for words in ["going on with the demo client's own timestamps", "observer doctor"] {
        assert!(told.contains(words), "'{words}' is missing: {told}");
    }
    assert!(program.leftovers()?.is_empty(), "{:?}", program.leftovers()?);
    Ok(())
}

#[test]
fn the_text_report_is_labelled_too() -> Result<()> {
    let (report, _) = Program::new()?.output(&[])?;
    for words in HOSTS.into_iter().chain(["the demo client's own timestamps"]) {
        assert!(report.contains(words), "'{words}' is missing:\n{report}");
    }
    Ok(())
}

#[test]
fn the_report_in_markdown_is_labelled_too() -> Result<()> {
    let program = Program::new()?;
    let (printed, _) = program.output(&["--format", "markdown", "--output", "report.md"])?;
    assert_eq!(printed, "");
    let report = fs::read_to_string(program.directory.path().join("report.md"))?;
    for words in HOSTS.into_iter().chain(["**NOTE**: these are the demo client's own timestamps"]) {
        assert!(report.contains(words), "'{words}' is missing:\n{report}");
    }
    Ok(())
}

#[test]
fn what_is_recorded_lies_beside_the_truth() -> Result<()> {
    let program = Program::new()?;
    program.output(&["--cause", "request", "--hedge-after", "50ms", "--record", "recording.csv"])?;
    let read =
        |name: &str| fs::read_to_string(program.directory.path().join(name)).with_context(|| name.to_owned());
    let truth: Value = serde_json::from_str(&read("recording.csv.truth.json")?)?;
    assert_eq!(truth["scenario"]["cause"], "request");
    assert_eq!(truth["scenario"]["hedging"]["delay"], "50ms");
    assert_eq!(truth["mechanism"], "expensive-requests");
    // Without probes, what is recorded is what the client saw.
    assert_eq!(read("recording.csv")?.lines().count(), read("recording.csv.client.csv")?.lines().count());
    assert_eq!(program.leftovers()?.len(), 3);
    Ok(())
}

#[test]
fn a_lab_that_makes_no_sense_is_refused() -> Result<()> {
    let program = Program::new()?;
    for (arguments, words) in [
        (["--replicas", "101"], "a whole number from 1 to 100"),
        (["--replicas", "0"], "a whole number from 1 to 100"),
        (["--severity", "-1"], "a number from 0.01 to 100"),
        (["--seed", "-1"], "a whole number from 0 to"),
        (["--hedge-after", "1h"], "a delay below 10s"),
        (["--cause", "fate"], "possible values"),
        (["--budget", "120%"], "from 0% to 100%"),
        (["--rate", "-5"], "a number from 0.1 to 100000"),
        (["--rate", "0"], "a number from 0.1 to 100000"),
        (["--record", "recording.txt"], ".parquet or .csv"),
    ] {
        let Output { status, stderr, .. } = program.demo().args(arguments).output()?;
        let told = String::from_utf8(stderr)?;
        assert!(status.code() == Some(2) && told.contains(words), "{arguments:?}: {status}: {told}");
    }
    assert!(program.leftovers()?.is_empty());
    Ok(())
}

#[test]
fn the_demos_processes_do_not_outlive_it_even_if_it_is_killed() -> Result<()> {
    let program = Program::new()?;
    let mut demo = program.demo().stdout(Stdio::null()).spawn()?;
    wait_until("three replicas, their store, a client and the faults run", || Ok(program.children()? == 6))?;
    demo.kill()?;
    demo.wait()?;
    wait_until("they end with whoever started them", || Ok(program.children()? == 0))
}

fn wait_until(what: &str, is_so: impl Fn() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so()? {
        if Instant::now() > deadline {
            bail!("in vain: {what}");
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
