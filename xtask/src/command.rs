//! Running other programs, in the open.

use std::{ffi::OsStr, process::Command};

use anyhow::{Context as _, Result, bail};

/// Runs `command` with this process's own output, after showing it.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("+ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} failed with {status}", shown(command));
    }
    Ok(())
}

/// Runs `command` and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed with {}: {}", shown(command), output.status, said.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} printed no UTF-8", shown(command)))
}

/// Whether `program` can be started from the search path.
pub(crate) fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        // Servers live where only root looks by default.
        let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
        folders.into_iter().any(|folder| folder.join(program).is_file())
    })
}

/// The command as one would type it.
fn shown(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| value.map(|value| format!("{}={}", name.display(), quoted(value))));
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy().replace('\u{1f}', " ");
    if word.is_empty() || word.contains([' ', '\'', '"', '*', '$']) { format!("'{word}'") } else { word }
}
