//! Where things lie.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

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
