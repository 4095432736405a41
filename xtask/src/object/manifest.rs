//! The manifest beside the object: what it is, what it was made from, and with what.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::{inputs::Inputs, structure::Structure, toolchain::Versions};

const HEADER: &str = "# Written by `cargo xtask build-ebpf`; not to be edited.\n\n";

/// Describes the committed object.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// SHA-256 of the object.
    pub(crate) sha256: String,
    /// The tools that made it.
    pub(crate) toolchain: Versions,
    /// What is in it.
    pub(crate) structure: Structure,
    /// What it was made from.
    pub(crate) inputs: Inputs,
}

impl Manifest {
    /// Reads the manifest at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| {
            format!("cannot read {}: run `cargo xtask build-ebpf` to make the object and it", path.display())
        })?;
        toml::from_str(&text).with_context(|| {
            format!("{} is not a manifest: run `cargo xtask build-ebpf` to make it again", path.display())
        })
    }

    /// Writes the manifest to `path`.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let text = format!("{HEADER}{}", toml::to_string_pretty(self)?);
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}
