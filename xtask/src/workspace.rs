//! Where things lie.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::command;

/// Everything but the probes, which need a target of their own. Always the same packages: with others, cargo would
/// choose other features and build most dependencies once more.
const SELECTION: [&str; 4] = ["--release", "--workspace", "--exclude", "observer-ebpf"];

/// The checkout that the task works on.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace whose `xtask` cargo runs.
    pub(crate) fn find() -> Result<Self> {
        let own = env::var_os("CARGO_MANIFEST_DIR")
            .context("CARGO_MANIFEST_DIR is not set: run this as `cargo xtask`")?;
        let root = Path::new(&own).parent().context("xtask lies outside of a workspace")?;
        Ok(Self { root: root.to_owned() })
    }

    /// Its top folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A cargo command on everything that is not an eBPF program.
    pub(crate) fn cargo(&self, verb: &[&str]) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(&self.root).args(verb).args(SELECTION);
        cargo
    }

    /// Builds the programs that users and tests start.
    pub(crate) fn build_programs(&self) -> Result<()> {
        command::run(self.cargo(&["build"]).arg("--bins"))
    }

    /// The folder for everything that can be made again.
    pub(crate) fn target(&self) -> PathBuf {
        self.root.join("target")
    }

    /// A program of this workspace, built for release.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.target().join("release").join(name)
    }

    /// The committed eBPF object.
    pub(crate) fn object(&self) -> PathBuf {
        self.root.join("observer/bpf/observer.bpf.o")
    }

    /// What the committed object was made from.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.root.join("observer/bpf/observer.bpf.toml")
    }
}

/// Whether this is a run that must not skip anything.
pub(crate) fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true")
}
