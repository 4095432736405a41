//! Stock kernels, as Debian builds them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use clap::ValueEnum;

use crate::apt::Release;

/// A kernel that the probes have to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kernel {
    /// Linux 5.10
    #[value(name = "5.10")]
    V5_10,
    /// Linux 6.1
    #[value(name = "6.1")]
    V6_1,
    /// Linux 6.12
    #[value(name = "6.12")]
    V6_12,
    /// The newest Linux 7
    #[value(name = "7")]
    V7,
}

impl Kernel {
    /// All of them, oldest first.
    pub(crate) const ALL: [Self; 4] = [Self::V5_10, Self::V6_1, Self::V6_12, Self::V7];

    /// Its version, as far as it is fixed.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::V5_10 => "5.10",
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::V7 => "7",
        }
    }

    /// The release of Debian that has it.
    const fn suite(self) -> &'static str {
        match self {
            Self::V5_10 => "bullseye",
            Self::V6_1 => "bookworm",
            Self::V6_12 => "trixie",
            Self::V7 => "sid",
        }
    }

    /// The bootable image, fetched into `folder` unless it is there already.
    pub(crate) fn fetch(self, folder: &Path) -> Result<PathBuf> {
        let image = folder.join("vmlinuz");
        if image.is_file() {
            return Ok(image);
        }
        let release = Release::open(self.suite(), &folder.join("apt"))?;
        let unpacked = folder.join("unpacked");
        let mut package = "linux-image-cloud-amd64".to_owned();
        let found = loop {
            // The metapackage names the real one; newer releases split that once more.
            let next = release.dependencies(&package)?.into_iter().find(|name| is_kernel(name));
            package = next.with_context(|| format!("Debian's {package} leads to no kernel image"))?;
            release.unpack(&package, &unpacked)?;
            if let Some(found) = find_image(&unpacked)? {
                break found;
            }
        };
        println!("Linux {} comes from {package}", self.name());
        // A copy under another name first: an interrupted one is not taken for complete.
        let partial = folder.join("vmlinuz.partial");
        fs::copy(&found, &partial).with_context(|| format!("cannot copy {}", found.display()))?;
        fs::rename(&partial, &image).with_context(|| format!("cannot write {}", image.display()))?;
        fs::remove_dir_all(&unpacked).with_context(|| format!("cannot remove {}", unpacked.display()))?;
        Ok(image)
    }
}

fn is_kernel(package: &str) -> bool {
    ["linux-image-", "linux-binary-"].iter().any(|prefix| package.starts_with(prefix))
}

/// The kernel image in an unpacked package: `boot/vmlinuz-VERSION` or `usr/lib/modules/VERSION/vmlinuz`.
fn find_image(unpacked: &Path) -> Result<Option<PathBuf>> {
    for folder in [unpacked.join("boot"), unpacked.join("usr/lib/modules")] {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry?.path();
            let inside = path.join("vmlinuz");
            if inside.is_file() {
                return Ok(Some(inside));
            }
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz-")) {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_is_found_in_either_layout() {
        for path in ["boot/vmlinuz-6.1.0-1-cloud-amd64", "usr/lib/modules/7.0/vmlinuz"] {
            let unpacked = tempfile::tempdir().unwrap();
            assert_eq!(find_image(unpacked.path()).unwrap(), None);
            let image = unpacked.path().join(path);
            fs::create_dir_all(image.parent().unwrap()).unwrap();
            fs::write(&image, "").unwrap();
            assert_eq!(find_image(unpacked.path()).unwrap(), Some(image));
        }
    }
}
