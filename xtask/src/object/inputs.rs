//! Everything that decides the object's bytes, except the tools: so that a forgotten rebuild is noticed by anyone,
//! without the tools.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::{compile::RUSTFLAGS, sha256};
use crate::command;

const FOLDERS: [&str; 2] = ["observer-common", "observer-ebpf"];

/// What an object is made from, each input with its fingerprint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inputs {
    /// The compiler's flags, without those that name folders of the machine.
    rustflags: String,
    /// Source files and manifests, by path.
    files: BTreeMap<String, String>,
    /// The workspace's settings that reach the probes, by their key in `Cargo.toml`.
    settings: BTreeMap<String, String>,
    /// Packages that the probes are linked from or built with, and their checksums.
    packages: BTreeMap<String, String>,
}

impl Inputs {
    /// The inputs as they lie in the workspace at `root`.
    pub(crate) fn collect(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for folder in FOLDERS {
            add_file(root, &format!("{folder}/Cargo.toml"), &mut files)?;
            add_folder(root, &format!("{folder}/src"), &mut files)?;
        }
        Ok(Self {
            rustflags: RUSTFLAGS.join(" "),
            files,
            settings: settings(root)?,
            packages: packages(root)?,
        })
    }

    /// What differs between `self`, which an object was made from, and `now`, in words.
    pub(crate) fn differences(&self, now: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        if self.rustflags != now.rustflags {
            differences.push("the compiler's flags have changed".to_owned());
        }
        for (kind, then, now) in [
            ("", &self.files, &now.files),
            ("Cargo.toml: ", &self.settings, &now.settings),
            ("Cargo.lock: ", &self.packages, &now.packages),
        ] {
            let names: BTreeSet<_> = then.keys().chain(now.keys()).collect();
            for name in names {
                let what = match (then.get(name), now.get(name)) {
                    (Some(then), Some(now)) if then == now => continue,
                    (Some(_), Some(_)) => "has changed",
                    (None, _) => "is new",
                    (_, None) => "is gone",
                };
                differences.push(format!("{kind}{name} {what}"));
            }
        }
        differences
    }
}

fn add_folder(root: &Path, folder: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    let entries = fs::read_dir(root.join(folder)).with_context(|| format!("cannot list {folder}"))?;
    for entry in entries {
        let entry = entry?;
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            add_folder(root, &path, files)?;
        } else {
            add_file(root, &path, files)?;
        }
    }
    Ok(())
}

fn add_file(root: &Path, path: &str, files: &mut BTreeMap<String, String>) -> Result<()> {
    let bytes = fs::read(root.join(path)).with_context(|| format!("cannot read {path}"))?;
    files.insert(path.to_owned(), sha256(&bytes));
    Ok(())
}

fn read_toml(root: &Path, path: &str) -> Result<toml::Table> {
    let text = fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))?;
    text.parse().with_context(|| format!("{path} is not TOML"))
}

/// The keys of a package's `[dependencies]` that are always on, with the package's own settings for them.
fn required_dependencies(root: &Path, package: &str) -> Result<Vec<String>> {
    let manifest = read_toml(root, &format!("{package}/Cargo.toml"))?;
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
    let required = dependencies
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.get("optional").and_then(toml::Value::as_bool).unwrap_or(false));
    Ok(required.map(|(name, _)| name.clone()).collect())
}

fn settings(root: &Path) -> Result<BTreeMap<String, String>> {
    let manifest = read_toml(root, "Cargo.toml")?;
    let mut keys =
        vec!["profile.bpf".to_owned(), "profile.release".to_owned(), "workspace.package".to_owned()];
    for package in FOLDERS {
        for dependency in required_dependencies(root, package)? {
            keys.push(format!("workspace.dependencies.{dependency}"));
        }
    }
    let mut settings = BTreeMap::new();
    for key in keys {
        let mut parts = key.split('.');
        let first = parts.next().and_then(|part| manifest.get(part));
        let value = parts.fold(first, |value, part| value?.get(part));
        let value = value.with_context(|| format!("Cargo.toml has no {key}"))?;
        settings.insert(key, value.to_string());
    }
    Ok(settings)
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The packages that end up in the object, macros included, with their checksums from `Cargo.lock`.
///
/// What only builds them is left out: it changes with every other part of the workspace and not the object.
fn packages(root: &Path) -> Result<BTreeMap<String, String>> {
    let tree = command::output(Command::new("cargo").current_dir(root).args([
        "tree",
        "--locked",
        "--package=observer-ebpf",
        "--edges=normal",
        "--target=bpfel-unknown-none",
        "--prefix=none",
        "--format={p}",
    ]))?;
    let reached: BTreeSet<String> = tree
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.split_once(" v")?;
            Some(format!("{name} {}", rest.split(' ').next()?))
        })
        .collect();

    let lock = fs::read_to_string(root.join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let lock: Lock = toml::from_str(&lock).context("Cargo.lock is not understood")?;
    let packages = lock.package.into_iter().filter_map(|package| {
        let name = format!("{} {}", package.name, package.version);
        reached.contains(&name).then_some((name, package.checksum?))
    });
    Ok(packages.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_the_input() {
        let mut then = Inputs::default();
        let mut now = Inputs::default();
        assert!(then.differences(&now).is_empty());

        then.files = BTreeMap::from([("a.rs".into(), "1".into()), ("b.rs".into(), "1".into())]);
        now.files = BTreeMap::from([("b.rs".into(), "2".into()), ("c.rs".into(), "1".into())]);
        then.packages = BTreeMap::from([("aya-ebpf 0.2.0".into(), "1".into())]);
        now.packages = BTreeMap::from([("aya-ebpf 0.2.1".into(), "1".into())]);
        assert_eq!(
            then.differences(&now),
            [
                "a.rs is gone",
                "b.rs has changed",
                "c.rs is new",
                "Cargo.lock: aya-ebpf 0.2.0 is gone",
                "Cargo.lock: aya-ebpf 0.2.1 is new"
            ]
        );
    }
}
