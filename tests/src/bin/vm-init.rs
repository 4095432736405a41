//! The first and only process of a virtual machine that runs a stock kernel: it proves that the probes load, attach
//! and measure there, says so on the console, and powers off.

use std::{
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, ExitCode},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Parser as _;
use observer_tests::{
    logging_client, logging_server,
    nesting::{self, Plan},
    network::loopback_up,
    process::{Programs, output},
    say::say,
};
use rustix::{
    mount::{MountFlags, UnmountFlags, mount, unmount},
    system::{RebootCommand, reboot},
};

/// Emulated processors are slow.
const PATIENCE: Duration = Duration::from_mins(2);

const CGROUP: &str = "/sys/fs/cgroup";

fn main() -> ExitCode {
    // The same program is the logging client and server: a virtual machine's file system is one archive.
    let mut arguments = std::env::args_os();
    let program = arguments.next().unwrap_or_default();
    let name = arguments.next();
    let rest = || std::iter::once(program.clone()).chain(std::env::args_os().skip(2));
    let part = match name.as_deref().and_then(|name| name.to_str()) {
        Some("logging-client") => logging_client::run(&logging_client::Arguments::parse_from(rest())),
        Some("logging-server") => logging_server::run(&logging_server::Arguments::parse_from(rest())),
        _ if std::process::id() == 1 => return first_process(),
        _ => Err(anyhow!("this is the first process of a virtual machine; `cargo xtask vm` starts it")),
    };
    match part {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Never returns as long as the kernel lets it go.
fn first_process() -> ExitCode {
    match prove() {
        Ok(()) => say("VM RESULT: ok"),
        Err(error) => say(&format!("VM RESULT: failed: {error:#}")),
    }
    // The serial line may still be behind.
    thread::sleep(Duration::from_millis(200));
    if let Err(error) = reboot(RebootCommand::PowerOff) {
        say(&format!("power off: {error}"));
    }
    ExitCode::FAILURE
}

fn prove() -> Result<()> {
    mount_all()?;
    loopback_up()?;
    say(fs::read_to_string("/proc/version")?.trim());

    let doctor = run(Command::new("/observer").arg("doctor"))?;
    say(&doctor);
    let report = run(Command::new("/observer").args(["doctor", "--json"]))?;
    serde_json::from_str::<serde_json::Value>(&report).context("observer doctor --json prints JSON")?;

    let this: OsString = "/proc/self/exe".into();
    let programs = Programs {
        observer: "/observer".into(),
        client: vec![this.clone(), "logging-client".into()],
        server: vec![this, "logging-server".into()],
    };
    let plan = Plan::short();
    for role in ["client", "server"] {
        let summary =
            nesting::run(&programs, &plan, role).with_context(|| format!("nesting, {role} role"))?;
        ensure!(summary.exchanges == plan.requests(), "{} exchanges were checked", summary.exchanges);
        say(&format!("nesting, {role} role: {summary}"));
    }

    // Where nothing has mounted version 2 of the control groups, the observer does so for itself.
    unmount(CGROUP, UnmountFlags::empty()).context("unmount the control groups")?;
    let summary = nesting::run(&programs, &Plan::smallest(), "client").context("without a cgroup2 mount")?;
    say(&format!("nesting without a cgroup2 mount: {summary}"));
    Ok(())
}

fn mount_all() -> Result<()> {
    let all = [
        ("proc", "/proc", "proc"),
        ("sysfs", "/sys", "sysfs"),
        ("devtmpfs", "/dev", "devtmpfs"),
        ("tmpfs", "/tmp", "tmpfs"),
        ("cgroup2", CGROUP, "cgroup2"),
    ];
    for (source, target, kind) in all {
        if !Path::new(target).exists() {
            fs::create_dir_all(target).with_context(|| format!("make {target}"))?;
        }
        match mount(source, target, kind, MountFlags::empty(), None) {
            // The kernel may have mounted /dev itself.
            Ok(()) | Err(rustix::io::Errno::BUSY) => {}
            Err(error) => return Err(error).with_context(|| format!("mount {target}")),
        }
    }
    Ok(())
}

fn run(command: &mut Command) -> Result<String> {
    let (printed, errors, status) = output(command, PATIENCE)?;
    ensure!(status.success(), "{command:?} ended with {status}: {printed}{errors}");
    Ok(printed)
}
