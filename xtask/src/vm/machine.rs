//! The emulated machine.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

/// The program that emulates it.
pub(crate) const EMULATOR: &str = "qemu-system-x86_64";

/// How the line begins by which the machine says how it went.
const RESULT: &str = "VM RESULT: ";

/// Boots `kernel` with `initramfs`, shows its console, and fails unless it says within `patience` that all is well.
pub(crate) fn boot(kernel: &Path, initramfs: &Path, patience: Duration) -> Result<()> {
    let mut command = Command::new(EMULATOR);
    command
        // Emulation on purpose: where tests run, hardware virtualisation is often missing or nested.
        .args(["-accel", "tcg", "-cpu", "max", "-m", "1G", "-smp", "2"])
        // Not `-nographic`: with it the firmware writes to the serial line too.
        .args(["-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot", "-nic", "none"])
        .arg("-kernel")
        .arg(kernel)
        .arg("-initrd")
        .arg(initramfs)
        .args(["-append", "console=ttyS0 quiet panic=-1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let child = command.spawn().with_context(|| format!("cannot start {EMULATOR}"))?;
    let mut machine = Machine(child);
    let lines = machine.console()?;
    match verdict(&lines, patience)?.as_str() {
        "ok" => Ok(()),
        failure => bail!("the machine says: {failure}"),
    }
}

/// A running machine, which ends with its owner.
struct Machine(Child);

impl Machine {
    /// What it prints, line by line.
    fn console(&mut self) -> Result<Receiver<String>> {
        let output = self.0.stdout.take().context("the machine has no console")?;
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            // The serial line carries whatever the firmware writes: not always UTF-8.
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(receiver)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It may have powered itself off.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Shows `lines` up to the one that tells the result, and returns that.
fn verdict(lines: &Receiver<String>, patience: Duration) -> Result<String> {
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match lines.recv_timeout(left) {
            Ok(line) => {
                println!("  | {line}");
                if let Some((_, result)) = line.split_once(RESULT) {
                    return Ok(result.to_owned());
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                bail!("the machine gave no result within {} s", patience.as_secs())
            }
            Err(RecvTimeoutError::Disconnected) => bail!("the machine ended without a result"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict_of(lines: &[&str]) -> Result<String> {
        let (sender, receiver) = mpsc::channel();
        for line in lines {
            sender.send((*line).to_owned()).unwrap();
        }
        drop(sender);
        verdict(&receiver, Duration::from_secs(10))
    }

    #[test]
    fn only_the_result_line_counts() {
        assert_eq!(verdict_of(&["booted", "\u{1b}[0mVM RESULT: ok", "later"]).unwrap(), "ok");
        assert_eq!(verdict_of(&["VM RESULT: failed: no ring"]).unwrap(), "failed: no ring");
        let error = verdict_of(&["Kernel panic"]).unwrap_err();
        assert!(error.to_string().contains("without a result"), "{error}");
    }
}
