//! However a lab ends, nothing of it stays: no process, stopped or not, and no control group.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use observer_tests::process::{Programs, Running};
use rustix::process::Signal;

/// How long anything may take here.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a lab that goes on until it is ended.
fn demo(cause: &str) -> Result<Running> {
    Running::start(
        Command::new(Programs::beside_tests()?.observer)
            .args(["demo", "--quiet", "--duration", "10m", "--duty-cycle", "95%", "--cause", cause])
            .stdin(Stdio::null())
            .stdout(Stdio::null()),
    )
}

/// The processes that a process has started, and the state that each is in.
fn children(parent: u32) -> Result<Vec<(u32, char)>> {
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Ok(process) = entry?.file_name().to_string_lossy().parse() else { continue };
        // One that has ended meanwhile is none.
        let Some((state, its_parent)) = state(process) else { continue };
        if its_parent == parent {
            children.push((process, state));
        }
    }
    Ok(children)
}

/// Whether a process is the lab's client, which is the last to start.
fn is_client(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.trim_end() == "demo-client")
}

/// The state of a process and its parent.
fn state(process: u32) -> Option<(char, u32)> {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = status.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// The lab's control groups, wherever they can be.
fn groups() -> Result<Vec<PathBuf>> {
    let mut groups = Vec::new();
    let hierarchies = fs::read_dir("/sys/fs/cgroup")?.map(|entry| Ok(entry?.path()));
    for hierarchy in hierarchies.chain([Ok(PathBuf::from("/sys/fs/cgroup"))]).collect::<Result<Vec<_>>>()? {
        // Files, and what is gone already, have nothing in them.
        for entry in fs::read_dir(hierarchy).into_iter().flatten() {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("observer-demo-")) {
                groups.push(path);
            }
        }
    }
    Ok(groups)
}

fn wait_until(what: &str, is_so: impl Fn() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !is_so()? {
        if Instant::now() > deadline {
            bail!("in vain: {what}");
        }
        thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// Waits until the client runs, which is the last to start, and returns everybody.
fn everybody(demo: &Running, count: usize) -> Result<Vec<u32>> {
    wait_until("all processes run", || Ok(children(demo.id())?.len() == count))?;
    Ok(children(demo.id())?.into_iter().map(|(process, _)| process).collect())
}

/// Nobody is left, and nothing that they made.
fn nothing_is_left(processes: &[u32]) -> Result<()> {
    let is_gone = |process: &u32| state(*process).is_none_or(|(state, _)| state == 'Z');
    wait_until("all processes end", || Ok(processes.iter().all(is_gone)))?;
    wait_until("all control groups go", || Ok(groups()?.is_empty()))
}

/// A stopped process hears nothing: somebody else has to let it go on, so that it can end.
#[test]
fn a_lab_that_is_killed_leaves_no_stopped_process() -> Result<()> {
    let mut demo = demo("independent")?;
    let processes = everybody(&demo, 6)?;
    wait_until("a replica stands still", || Ok(children(demo.id())?.iter().any(|(_, state)| *state == 'T')))?;
    demo.signal(Signal::KILL)?;
    demo.wait(PATIENCE)?;
    nothing_is_left(&processes)
}

#[test]
fn a_lab_that_is_killed_leaves_no_control_group() -> Result<()> {
    let mut demo = demo("instance")?;
    // Where no quota can be set, there is no process that sets it, and no group: then the client is the fifth.
    wait_until("the client runs", || {
        Ok(children(demo.id())?.iter().any(|(process, _)| is_client(*process)))
    })?;
    let processes: Vec<u32> = children(demo.id())?.into_iter().map(|(process, _)| process).collect();
    if processes.len() == 6 {
        wait_until("there is a control group", || Ok(!groups()?.is_empty()))?;
    }
    demo.signal(Signal::KILL)?;
    demo.wait(PATIENCE)?;
    nothing_is_left(&processes)
}

#[test]
fn an_interrupted_lab_ends_well_and_leaves_nothing() -> Result<()> {
    for cause in ["independent", "instance"] {
        let mut demo = demo(cause)?;
        wait_until("the client runs", || Ok(children(demo.id())?.len() >= 5))?;
        let processes: Vec<_> = children(demo.id())?.into_iter().map(|(process, _)| process).collect();
        demo.signal(Signal::INT)?;
        let status = demo.wait(PATIENCE)?;
        ensure!(status.success(), "{cause}: {status}");
        nothing_is_left(&processes).context(cause)?;
    }
    Ok(())
}
