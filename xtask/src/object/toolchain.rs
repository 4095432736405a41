//! What building the object needs, and nothing else does.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use crate::command;

/// The versions that decide the object's bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Versions {
    /// The compiler, with its commit.
    pub(crate) rustc: String,
    /// The LLVM that both the compiler and the linker use.
    pub(crate) llvm: String,
    /// The linker.
    pub(crate) bpf_linker: String,
}

/// An installed toolchain.
pub(crate) struct Toolchain {
    /// Its versions.
    pub(crate) versions: Versions,
    sysroot: PathBuf,
    cargo_home: PathBuf,
}

impl Toolchain {
    /// The toolchain of this machine, or what is missing and how to get it.
    pub(crate) fn find() -> Result<Self> {
        let verbose = command::output(Command::new("rustc").arg("-vV"))?;
        let field = |name: &str| {
            let line = verbose.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.map(str::to_owned).with_context(|| format!("`rustc -vV` names no {name}"))
        };
        let llvm = field("LLVM version")?;

        let sysroot: PathBuf =
            command::output(Command::new("rustc").args(["--print", "sysroot"]))?.trim().into();
        let core = sysroot.join("lib/rustlib/src/rust/library/core/src/lib.rs");
        if !core.is_file() {
            bail!(
                "the sources of `core` are missing ({}): run `rustup component add rust-src`",
                core.display()
            );
        }

        let linker = command::output(Command::new("bpf-linker").arg("--version")).with_context(|| {
            let major = llvm.split('.').next().unwrap_or(&llvm);
            format!(
                "bpf-linker is missing: run `cargo install --locked bpf-linker --no-default-features \
                 --features llvm-{major}`"
            )
        })?;

        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo_home = cargo_home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        Ok(Self {
            versions: Versions {
                rustc: format!("{} ({})", field("release")?, field("commit-hash")?),
                llvm,
                bpf_linker: linker.trim().trim_start_matches("bpf-linker ").to_owned(),
            },
            sysroot,
            cargo_home: cargo_home.context("neither CARGO_HOME nor HOME is set")?,
        })
    }

    /// The compiler flags that take this machine's folders out of the object.
    pub(crate) fn remaps(&self, source: &Path) -> Vec<String> {
        let rust = self.sysroot.join("lib/rustlib/src/rust");
        [(source, "observer"), (&self.cargo_home, "cargo"), (&rust, "rust")]
            .into_iter()
            .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
            .collect()
    }
}
