//! Which container or unit a number stands for: cgroup identifiers of the probes, and what people call them.

mod describe;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use observer_common::{Nanoseconds, Timestamp};
use procfs::process::Process;

pub use self::describe::describe;

/// Directories that one walk looks at; a busy node has some thousand.
const MOST_DIRECTORIES: usize = 100_000;

/// Paths remembered, those of removed cgroups included.
const MOST_PATHS: usize = 200_000;

/// The shortest time between two walks that a miss may start.
const PAUSE: Nanoseconds = Nanoseconds(1_000_000_000);

/// The paths of cgroups (version 2) by their identifiers.
///
/// An identifier is what `bpf_get_current_cgroup_id` returns: the inode number of the cgroup's directory. The
/// tree is walked when this is made, and again when an unknown identifier is asked for. A removed cgroup keeps
/// its path, since its last exchanges are reported after it went.
#[derive(Debug)]
pub struct Cgroups {
    root: PathBuf,
    paths: HashMap<u64, String>,
    walked: Option<Timestamp>,
}

/// Why cgroups stay numbers.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    /// No hierarchy of version 2 is mounted.
    #[error(
        "no cgroup v2 hierarchy is mounted: processes have no cgroup in the report; mount one, for instance \
         with 'mount -t cgroup2 none /sys/fs/cgroup/unified'"
    )]
    NotMounted,
    /// The list of mounts cannot be read.
    #[error("cannot find out where cgroup v2 is mounted: {0}; check that /proc is mounted")]
    Mounts(#[source] procfs::ProcError),
    /// The root cannot be read.
    #[error("cannot read the cgroups below '{path}': {source}; check the directory's permissions")]
    Root {
        /// Where the hierarchy is mounted.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Cgroups {
    /// The hierarchy that is mounted on this host, or in this container.
    pub fn open() -> Result<Self, CgroupError> {
        let mounts = Process::myself().and_then(|myself| myself.mountinfo()).map_err(CgroupError::Mounts)?;
        let root = mounts
            .into_iter()
            .filter(|mount| mount.fs_type == "cgroup2" && Path::new(&mount.root) == Path::new("/"))
            .map(|mount| mount.mount_point)
            // A bind mount of the same tree has the longer path.
            .min_by_key(|path| path.as_os_str().len());
        Self::at(&root.ok_or(CgroupError::NotMounted)?)
    }

    /// The hierarchy below `root`, which may be `/proc/self/fd/N` for a mount that no path leads to.
    pub fn at(root: &Path) -> Result<Self, CgroupError> {
        // The slash makes sure that a link is followed.
        let root = root.join("");
        if let Err(source) = fs::read_dir(&root) {
            return Err(CgroupError::Root { path: root, source });
        }
        let mut cgroups = Self { root, paths: HashMap::new(), walked: None };
        cgroups.walk();
        Ok(cgroups)
    }

    /// The path of a cgroup, such as `/system.slice/redis.service`. An unknown identifier starts a new walk, at
    /// most one a second of the time `now`.
    pub fn path_of(&mut self, identifier: u64, now: Timestamp) -> Option<&str> {
        let due = self.walked.is_none_or(|walked| now.since(walked).is_some_and(|since| since >= PAUSE));
        if due && identifier != 0 && !self.paths.contains_key(&identifier) {
            self.walked = Some(now);
            self.walk();
        }
        self.paths.get(&identifier).map(String::as_str)
    }

    /// How many cgroups are known, removed ones included.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Looks at every directory, breadth first, so that a bound cuts off the deepest.
    fn walk(&mut self) {
        let mut level = vec![(self.root.clone(), String::from("/"))];
        let mut looked_at = 0;
        if self.paths.len() > MOST_PATHS {
            self.paths.clear();
        }
        while !level.is_empty() {
            let mut below = Vec::new();
            for (directory, path) in level {
                looked_at += 1;
                if looked_at > MOST_DIRECTORIES {
                    return;
                }
                // It may have gone meanwhile.
                let (Ok(metadata), Ok(entries)) = (fs::metadata(&directory), fs::read_dir(&directory)) else {
                    continue;
                };
                for entry in entries.flatten() {
                    if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                        let name = entry.file_name().to_string_lossy().into_owned();
                        let parent = path.trim_end_matches('/');
                        below.push((entry.path(), format!("{parent}/{name}")));
                    }
                }
                self.paths.insert(metadata.ino(), path);
            }
            level = below;
        }
    }
}
