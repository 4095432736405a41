//! Compiling the probes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use super::{strip, toolchain::Toolchain};
use crate::command;

const TARGET: &str = "bpfel-unknown-none";

/// The flags that decide the object's bytes, machine-dependent ones apart.
pub(crate) const RUSTFLAGS: [&str; 4] = ["-C", "debuginfo=2", "-C", "link-arg=--btf"];

/// Which object is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// The one that is committed.
    Release,
    /// The one that writes log messages.
    Log,
}

/// Compiles the probes in `source` (a workspace) and returns the path of the object as the linker wrote it.
pub(crate) fn compile(
    toolchain: &Toolchain,
    source: &Path,
    target: &Path,
    variant: Variant,
) -> Result<PathBuf> {
    let mut flags = RUSTFLAGS.map(str::to_owned).to_vec();
    flags.extend(toolchain.remaps(source));

    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(source)
        // Lets the stable compiler build `core` and use the intrinsics that the target has no stable name for.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .args(["build", "--locked", "--profile", "bpf", "--package", "observer-ebpf"])
        .args(["--target", TARGET, "-Z", "build-std=core", "--target-dir"])
        .arg(target);
    if variant == Variant::Log {
        cargo.args(["--features", "log"]);
    }
    command::run(&mut cargo)?;
    Ok(target.join(TARGET).join("bpf/observer-ebpf"))
}

/// The bytes of the object to commit: as [`compile`] makes it, without debugging sections.
pub(crate) fn release_object(toolchain: &Toolchain, source: &Path, target: &Path) -> Result<Vec<u8>> {
    let path = compile(toolchain, source, target, Variant::Release)?;
    let raw = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    strip::without_debug_sections(&raw)
}
