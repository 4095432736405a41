//! A replica whose control group has a small quota of processor time, in whichever version has the controller.

use std::{
    convert::Infallible,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use procfs::process::{MountInfo, Process};
use serde::{Deserialize, Serialize};
use tokio::time::sleep_until;

use super::{
    super::{
        message::Teller,
        records::Fault,
        timetable::{Ongoing, Timetable},
    },
    Target,
};

/// The period of a quota, in microseconds: what the kernel takes by default.
const PERIOD: f64 = 100_000.0;
/// The smallest quota that the kernel takes, in microseconds.
const SMALLEST: f64 = 1_000.0;
/// How often the removal of a group is tried, whose process is about to leave.
const TRIES: usize = 50;
/// The time between two tries.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// A share of one processor.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub(in super::super) struct ProcessorShare(pub(in super::super) f64);

impl ProcessorShare {
    /// As a quota, in microseconds of a period.
    fn quota(self) -> String {
        format!("{:.0}", (self.0 * PERIOD).max(SMALLEST))
    }
}

/// Where a group with a quota can be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "version", content = "parent")]
pub(in super::super) enum Hierarchy {
    /// Version 1, at the root of the hierarchy that has the controller.
    V1(PathBuf),
    /// Version 2, at the root, whose children have the controller.
    V2(PathBuf),
}

impl Hierarchy {
    /// A hierarchy in which this process may make a group with a quota, if there is one.
    pub(in super::super) fn find() -> Option<Self> {
        let mounts = Process::myself().and_then(|process| process.mountinfo()).ok()?;
        mounts.into_iter().filter_map(Self::of).find(Self::is_usable)
    }

    fn of(mount: MountInfo) -> Option<Self> {
        match mount.fs_type.as_str() {
            "cgroup" if mount.super_options.contains_key("cpu") => Some(Self::V1(mount.mount_point)),
            "cgroup2" => Some(Self::V2(mount.mount_point)),
            _ => None,
        }
    }

    /// Whether a group there has a quota: one is made, looked at and removed.
    fn is_usable(&self) -> bool {
        let trial = self.group(&format!("trial-{}", std::process::id()));
        let usable = fs::create_dir(&trial).and_then(|()| self.set(&trial, None));
        fs::remove_dir(&trial).ok();
        usable.is_ok()
    }

    fn parent(&self) -> &Path {
        let (Self::V1(parent) | Self::V2(parent)) = self;
        parent
    }

    fn group(&self, name: &str) -> PathBuf {
        self.parent().join(format!("observer-demo-{name}"))
    }

    /// Sets the quota of a group, or lifts it.
    fn set(&self, group: &Path, share: Option<ProcessorShare>) -> io::Result<()> {
        match self {
            Self::V1(_) => {
                let quota = share.map_or_else(|| "-1".to_owned(), ProcessorShare::quota);
                fs::write(group.join("cpu.cfs_quota_us"), quota)
            }
            Self::V2(_) => {
                let quota = share.map_or_else(|| "max".to_owned(), ProcessorShare::quota);
                fs::write(group.join("cpu.max"), format!("{quota} {PERIOD}"))
            }
        }
    }
}

/// A control group for one replica. It is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Group<'a> {
    hierarchy: &'a Hierarchy,
    path: PathBuf,
}

impl<'a> Group<'a> {
    /// Makes it.
    pub(super) fn create(hierarchy: &'a Hierarchy) -> io::Result<Self> {
        let path = hierarchy.group(&std::process::id().to_string());
        fs::create_dir(&path)?;
        Ok(Self { hierarchy, path })
    }

    /// Moves a replica into it.
    pub(super) fn take_in(&self, target: Target) -> io::Result<Member<'_>> {
        let origin = origin(self.hierarchy, target.process)?;
        move_to(&self.path, target)?;
        Ok(Member { group: self, target, origin })
    }

    fn set(&self, share: Option<ProcessorShare>) -> io::Result<()> {
        self.hierarchy.set(&self.path, share)
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        // A group is busy for a moment after its last process has left it.
        for _ in 0..TRIES {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(BETWEEN_TRIES),
                _ => return,
            }
        }
    }
}

/// A replica in a group of its own. It returns to where it was when this is dropped.
#[derive(Debug)]
pub(super) struct Member<'a> {
    group: &'a Group<'a>,
    target: Target,
    origin: PathBuf,
}

impl Member<'_> {
    /// Lets it have only this share of a processor for each episode.
    pub(super) async fn throttle(
        &self,
        share: ProcessorShare,
        on: Timetable,
        teller: &Teller,
    ) -> io::Result<Infallible> {
        on.each(async |until| {
            self.group.set(Some(share))?;
            let _on = Ongoing::begin(teller, Fault::Quota).at(self.target.instance);
            sleep_until(until).await;
            self.group.set(None)
        })
        .await
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        // Either fails only where the replica, and with it its need for time, is gone.
        self.group.set(None).ok();
        move_to(&self.origin, self.target).ok();
    }
}

fn move_to(group: &Path, target: Target) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), target.process.to_string())
}

/// The group of a process in a hierarchy.
fn origin(hierarchy: &Hierarchy, process: u32) -> io::Result<PathBuf> {
    let process = i32::try_from(process).map_err(io::Error::other)?;
    let groups = Process::new(process).and_then(|process| process.cgroups()).map_err(io::Error::other)?;
    let group = groups.0.into_iter().find(|group| match hierarchy {
        Hierarchy::V1(_) => group.controllers.iter().any(|controller| controller == "cpu"),
        Hierarchy::V2(_) => group.hierarchy == 0,
    });
    let path = group.map(|group| group.pathname).unwrap_or_default();
    Ok(hierarchy.parent().join(path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_never_below_what_the_kernel_takes() {
        assert_eq!(ProcessorShare(0.05).quota(), "5000");
        assert_eq!(ProcessorShare(1e-9).quota(), "1000");
        assert_eq!(ProcessorShare(1.5).quota(), "150000");
    }
}
