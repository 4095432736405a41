//! What is done to replicas from outside: a process of its own, so that it is undone even if whoever started the lab is
//! killed.

mod pauses;
mod quota;

use std::{io, net::SocketAddr};

use serde::{Deserialize, Serialize};

pub(super) use self::quota::{Hierarchy, ProcessorShare};
use super::{message::Told, part::Stage, timetable::Timetable};

/// What the faults' process is told by the process that starts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FaultsOptions {
    /// The replicas.
    pub(super) targets: Vec<Target>,
    /// What is done to them.
    pub(super) deed: Deed,
    /// When.
    pub(super) on: Timetable,
}

/// A replica's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Target {
    pub(super) instance: SocketAddr,
    pub(super) process: u32,
}

/// What is done to replicas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Deed {
    /// One of them is stopped, each time another one by chance.
    Stop { seed: u64 },
    /// The first of them gets no more than this share of a processor.
    Throttle { hierarchy: Hierarchy, share: ProcessorShare },
}

/// Does it until this process shall end, and undoes it then.
pub(super) async fn run(options: &FaultsOptions, stage: &Stage) -> io::Result<()> {
    match &options.deed {
        Deed::Stop { seed } => {
            let replicas = pauses::Replicas::open(&options.targets)?;
            stage.teller.tell(Told::Ready);
            replicas.stop(*seed, options.on, &stage.teller).await?;
        }
        Deed::Throttle { hierarchy, share } => {
            let Some(target) = options.targets.first() else { return Ok(()) };
            let group = quota::Group::around(hierarchy, *target)?;
            stage.teller.tell(Told::Ready);
            group.throttle(*share, options.on, &stage.teller).await?;
        }
    }
    // There was nothing to do.
    std::future::pending().await
}
