//! The root of cgroup v2, where the probes see every process, container and network namespace.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use procfs::process::Process;
use rustix::{
    fs::{Mode, OFlags},
    mount::{FsMountFlags, FsOpenFlags, MountAttrFlags},
};

use super::CaptureError;

/// The inode of the hierarchy's true root; a cgroup namespace shows another one.
const ROOT_INODE: u64 = 1;

/// A place to attach to.
#[derive(Debug)]
pub(super) struct CgroupRoot {
    /// The open directory.
    pub(super) directory: File,
    /// Where it is mounted; nothing for a private mount.
    pub(super) path: Option<PathBuf>,
    /// Whether everything on the host is below it.
    pub(super) whole_host: bool,
}

impl CgroupRoot {
    /// Finds the mounted hierarchy or, failing that, mounts it for this process alone.
    pub(super) fn open() -> Result<Self, CaptureError> {
        if let Some(path) = mounted() {
            let directory = File::open(&path).map_err(|error| CaptureError::Cgroup {
                reason: format!("'{}' cannot be opened: {error}", path.display()),
            })?;
            Self::of(directory, Some(path))
        } else {
            let directory = mount_privately().map_err(|error| CaptureError::Cgroup {
                reason: format!("it is not mounted, and a private mount failed: {error}"),
            })?;
            Self::of(File::from(directory), None)
        }
    }

    fn of(directory: File, path: Option<PathBuf>) -> Result<Self, CaptureError> {
        let metadata = directory
            .metadata()
            .map_err(|error| CaptureError::Cgroup { reason: format!("its root cannot be read: {error}") })?;
        Ok(Self { directory, path, whole_host: metadata.ino() == ROOT_INODE })
    }
}

/// Where cgroup v2 is mounted, with the shortest path first: a bind mount of a part is longer.
fn mounted() -> Option<PathBuf> {
    let mounts = Process::myself().ok()?.mountinfo().ok()?;
    mounts
        .into_iter()
        .filter(|mount| mount.fs_type == "cgroup2" && Path::new(&mount.root) == Path::new("/"))
        .map(|mount| mount.mount_point)
        .min_by_key(|path| path.as_os_str().len())
}

/// A mount that no path leads to: it vanishes with its file descriptor.
fn mount_privately() -> io::Result<OwnedFd> {
    let filesystem = rustix::mount::fsopen("cgroup2", FsOpenFlags::FSOPEN_CLOEXEC)?;
    rustix::mount::fsconfig_create(&filesystem)?;
    let mount = rustix::mount::fsmount(&filesystem, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&mount, ".", flags, Mode::empty())?)
}
