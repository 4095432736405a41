//! `cargo xtask build-ebpf`: the object from its sources.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::{
    object::{
        compile::{self, Variant},
        inputs::Inputs,
        manifest::Manifest,
        sha256,
        structure::Structure,
        toolchain::Toolchain,
    },
    workspace::{Workspace, in_ci},
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Build twice, in two other folders, and compare with the committed object instead of writing it
    #[arg(long)]
    check: bool,
    /// Succeed without the toolchain, saying so (not with CI=true)
    #[arg(long)]
    if_available: bool,
    /// Build the object that writes log messages, to target/ only
    #[arg(long, conflicts_with = "check")]
    log: bool,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let toolchain = match Toolchain::find() {
        Ok(toolchain) => toolchain,
        Err(missing) if arguments.if_available && !in_ci() => {
            println!("skipped: {missing:#}");
            return Ok(());
        }
        Err(missing) => return Err(missing),
    };
    if arguments.check {
        check(workspace, &toolchain)
    } else if arguments.log {
        let built =
            compile::compile(&toolchain, workspace.root(), &workspace.target().join("bpf"), Variant::Log)?;
        let object = workspace.target().join("observer-log.bpf.o");
        fs::copy(&built, &object).with_context(|| format!("cannot write {}", object.display()))?;
        println!("{}", object.display());
        Ok(())
    } else {
        write(workspace, &toolchain)
    }
}

fn write(workspace: &Workspace, toolchain: &Toolchain) -> Result<()> {
    // Taken before the build: an edit during it then shows as a difference.
    let inputs = Inputs::collect(workspace.root())?;
    let object = compile::release_object(toolchain, workspace.root(), &workspace.target().join("bpf"))?;
    let manifest = Manifest {
        sha256: sha256(&object),
        toolchain: toolchain.versions.clone(),
        structure: Structure::of(&object)?,
        inputs,
    };
    let path = workspace.object();
    let folder = path.parent().context("the object lies in no folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    fs::write(&path, &object).with_context(|| format!("cannot write {}", path.display()))?;
    manifest.write(&workspace.manifest())?;
    println!("{}: {} bytes, sha256 {}", path.display(), object.len(), manifest.sha256);
    Ok(())
}

/// Builds in two other folders and compares both results with the committed object.
///
/// # Errors
///
/// Names the difference where the bytes differ, or where this machine's tools are not those of the manifest.
pub(crate) fn check(workspace: &Workspace, toolchain: &Toolchain) -> Result<()> {
    let manifest = Manifest::read(&workspace.manifest())?;
    if toolchain.versions != manifest.toolchain {
        bail!(
            "the committed object was built with {:?}, here is {:?}: a byte-identical rebuild needs the same",
            manifest.toolchain,
            toolchain.versions
        );
    }
    let committed = fs::read(workspace.object()).context("cannot read the committed object")?;
    for folder in ["a", "another/longer/folder"] {
        let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
        let source = temporary.path().join(folder);
        copy_sources(workspace.root(), &source)?;
        let object = compile::release_object(toolchain, &source, &temporary.path().join("target"))?;
        if object != committed {
            let kept = workspace.target().join("observer.bpf.o.rebuilt");
            fs::write(&kept, &object).with_context(|| format!("cannot write {}", kept.display()))?;
            bail!(
                "the object rebuilt in {} has sha256 {}, the committed one {}: compare {} with it, or run \
                 `cargo xtask build-ebpf` and commit the result",
                source.display(),
                sha256(&object),
                sha256(&committed),
                kept.display()
            );
        }
    }
    println!("rebuilt twice, byte-identical: sha256 {}", sha256(&committed));
    Ok(())
}

/// Copies what cargo needs to build the probes.
fn copy_sources(root: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(root).with_context(|| format!("cannot list {}", root.display()))? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "target" || name == ".git" {
            continue;
        }
        copy(&entry.path(), &to.join(name))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
        for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else {
        fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(())
}
