//! `cargo xtask check-ebpf`: proof that the committed object is what its sources say, and that kernels take it.

mod verifier;

use std::fs;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::{
    build_ebpf,
    object::{
        expected, inputs::Inputs, manifest::Manifest, sha256, structure, structure::Structure,
        toolchain::Toolchain,
    },
    workspace::{Workspace, in_ci},
};

#[derive(Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(workspace: &Workspace, _: &Arguments) -> Result<()> {
    inputs(workspace)?;
    println!("inputs: unchanged since the object was built");
    contents(workspace)?;
    println!("structure: as expected");
    rebuild(workspace)?;
    verifier::check(workspace)
}

/// Whether the object was made from the sources as they are.
fn inputs(workspace: &Workspace) -> Result<()> {
    let manifest = Manifest::read(&workspace.manifest())?;
    let differences = manifest.inputs.differences(&Inputs::collect(workspace.root())?);
    fail_for(&differences, "the eBPF object is older than its sources")
}

/// Whether the object is the one that the manifest describes, and has what user space expects.
fn contents(workspace: &Workspace) -> Result<()> {
    let manifest = Manifest::read(&workspace.manifest())?;
    let path = workspace.object();
    let object = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let found = Structure::of(&object)?;

    let mut differences = expected::differences(&found);
    if sha256(&object) != manifest.sha256 {
        differences.push(format!("its sha256 is {}, the manifest says {}", sha256(&object), manifest.sha256));
    }
    if found != manifest.structure {
        differences.push("its programs and maps are not those of the manifest".to_owned());
    }
    let paths = structure::host_paths(&object);
    differences
        .extend(paths.iter().map(|path| format!("it holds the path {path} of the machine that built it")));
    fail_for(&differences, "the eBPF object is not as it has to be")
}

fn fail_for(differences: &[String], what: &str) -> Result<()> {
    if differences.is_empty() {
        return Ok(());
    }
    bail!("{what}:\n  {}\nrun `cargo xtask build-ebpf` and commit the result", differences.join("\n  "))
}

/// Whether the sources give the very same bytes again, where the tools for it are there.
fn rebuild(workspace: &Workspace) -> Result<()> {
    match Toolchain::find() {
        Ok(toolchain) => build_ebpf::check(workspace, &toolchain),
        Err(missing) if in_ci() => Err(missing),
        Err(missing) => {
            println!("rebuild: skipped: {missing:#}");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_is_as_new_as_its_sources() {
        inputs(&Workspace::find().unwrap()).unwrap();
    }

    #[test]
    fn the_object_has_what_user_space_expects() {
        contents(&Workspace::find().unwrap()).unwrap();
    }
}
