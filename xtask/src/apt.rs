//! Debian's packages: installing them, and fetching single ones from another release.

use std::{
    fs::{self, OpenOptions, Permissions},
    io::{ErrorKind, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::command;

/// Installs `packages` without starting the services in them.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    if !command::is_installed("apt-get") {
        bail!("there is no apt-get to install {} with", packages.join(", "));
    }
    if !rustix::process::geteuid().is_root() {
        bail!("installing {} needs root", packages.join(", "));
    }
    let _services = NoServices::begin()?;
    command::run(Command::new("apt-get").args(["-qq", "update"]))?;
    command::run(
        Command::new("apt-get")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["-qq", "--yes", "--no-install-recommends", "-oDpkg::Use-Pty=0"])
            // Another installation may be under way.
            .args(["-oDPkg::Lock::Timeout=300", "install"])
            .args(packages),
    )
}

/// While this lives, installed packages do not start their services: the tests start their own.
struct NoServices {
    ours: bool,
}

impl NoServices {
    const POLICY: &str = "/usr/sbin/policy-rc.d";

    fn begin() -> Result<Self> {
        let created = OpenOptions::new().write(true).create_new(true).mode(0o755).open(Self::POLICY);
        match created {
            Ok(mut file) => {
                // 101: the action is forbidden (invoke-rc.d).
                file.write_all(b"#!/bin/sh\nexit 101\n")
                    .with_context(|| format!("cannot write {}", Self::POLICY))?;
                Ok(Self { ours: true })
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Self { ours: false }),
            Err(error) => Err(error).with_context(|| format!("cannot write {}", Self::POLICY)),
        }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.ours
            && let Err(error) = fs::remove_file(Self::POLICY)
        {
            eprintln!("cannot remove {}: {error}: remove it, or services will not start", Self::POLICY);
        }
    }
}

/// Another release of Debian, asked without touching the machine's own lists and packages.
pub(crate) struct Release {
    folder: PathBuf,
}

impl Release {
    /// The release named `suite`, from the servers that this machine uses, with its lists in `folder`.
    pub(crate) fn open(suite: &str, folder: &Path) -> Result<Self> {
        let release = Self { folder: folder.to_owned() };
        for sub in ["lists/partial", "cache/archives/partial", "packages"] {
            let path = folder.join(sub);
            fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        }
        fs::set_permissions(folder, Permissions::from_mode(0o755))?;
        let sources = release.folder.join("release.sources");
        fs::write(&sources, own_source(suite)?)
            .with_context(|| format!("cannot write {}", sources.display()))?;
        command::run(release.apt("apt-get").args(["-qq", "update"]))?;
        Ok(release)
    }

    /// The packages that `package` depends on.
    pub(crate) fn dependencies(&self, package: &str) -> Result<Vec<String>> {
        let text = command::output(self.apt("apt-cache").args(["depends", "--important", package]))?;
        let names =
            text.lines().filter_map(|line| line.trim().trim_start_matches('|').strip_prefix("Depends: "));
        Ok(names.map(str::to_owned).collect())
    }

    /// Fetches `package` and unpacks it into `into`, without installing it.
    pub(crate) fn unpack(&self, package: &str, into: &Path) -> Result<()> {
        let packages = self.folder.join("packages");
        command::run(self.apt("apt-get").current_dir(&packages).args(["-qq", "download", package]))?;
        let prefix = format!("{package}_");
        for entry in fs::read_dir(&packages)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)) {
                command::run(Command::new("dpkg-deb").arg("-x").arg(&path).arg(into))?;
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn apt(&self, program: &str) -> Command {
        let mut apt = Command::new(program);
        let path = |name: &str| self.folder.join(name).display().to_string();
        apt.arg(format!("-oDir::Etc::sourcelist={}", path("release.sources")))
            .arg("-oDir::Etc::sourceparts=/dev/null")
            .arg(format!("-oDir::State::Lists={}", path("lists")))
            .arg(format!("-oDir::Cache={}", path("cache")))
            // An old release's lists say that they have expired.
            .args(["-oAcquire::Check-Valid-Until=false", "-oAPT::Sandbox::User=root"]);
        apt
    }
}

/// This machine's own entry for Debian's packages, with another release in it.
fn own_source(suite: &str) -> Result<String> {
    const ENTRY: &str = "/etc/apt/sources.list.d/debian.sources";
    let text = fs::read_to_string(ENTRY).with_context(|| {
        format!("cannot read {ENTRY}: the kernels come from Debian, whose servers it names")
    })?;
    let entry = text.split("\n\n").next().unwrap_or_default();
    let lines = entry.lines().map(|line| {
        if line.starts_with("Suites:") { format!("Suites: {suite}\n") } else { format!("{line}\n") }
    });
    Ok(lines.collect())
}
