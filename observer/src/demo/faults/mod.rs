//! What is done to replicas from outside: a process of its own, so that it is undone even if whoever started the lab is
//! killed.

mod pauses;
mod quota;

use std::{convert::Infallible, io, net::SocketAddr, os::fd::AsFd};

use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::unix::pipe::Receiver,
};

pub(super) use self::quota::{Hierarchy, ProcessorShare};
use super::{part::Stage, timetable::Timetable};

/// What is done to replicas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Deed {
    /// One of them is stopped, each time another one by chance.
    Stop { seed: u64 },
    /// The first of them gets no more than this share of a processor.
    Throttle { hierarchy: Hierarchy, share: ProcessorShare },
}

/// To whom it is done, and when: a line of JSON on standard input. The faults' process is there before its victims,
/// while whoever starts it still has the privilege to set quotas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Orders {
    /// The replicas.
    pub(super) targets: Vec<Target>,
    /// When it is done.
    pub(super) on: Timetable,
}

/// A replica's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Target {
    pub(super) instance: SocketAddr,
    pub(super) process: u32,
}

/// Does it until this process shall end, and undoes it then.
pub(super) async fn run(deed: &Deed, stage: &Stage) -> io::Result<Infallible> {
    match deed {
        Deed::Stop { seed } => {
            let Orders { targets, on } = orders().await?;
            pauses::Replicas::open(&targets)?.stop(*seed, on, &stage.teller).await
        }
        Deed::Throttle { hierarchy, share } => {
            let group = quota::Group::create(hierarchy)?;
            let Orders { targets, on } = orders().await?;
            let target =
                targets.first().ok_or_else(|| io::Error::other("there is no replica to slow down"))?;
            group.take_in(*target)?.throttle(*share, on, &stage.teller).await
        }
    }
}

async fn orders() -> io::Result<Orders> {
    let input = Receiver::from_owned_fd(io::stdin().as_fd().try_clone_to_owned()?)?;
    let mut line = String::new();
    BufReader::new(input).read_line(&mut line).await?;
    Ok(serde_json::from_str(&line)?)
}
