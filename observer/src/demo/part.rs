//! The lab's processes: this very program, started again with a part to play.

use std::{ffi::CString, io, net::TcpListener, os::fd::AsFd, str::FromStr};

use serde::{Deserialize, Serialize};
use tokio::runtime;

use super::{
    client::{self, ClientOptions},
    faults::{self, Deed},
    forwarder::{self, ForwarderOptions},
    lifeline::Lifeline,
    message::Teller,
    replica::{self, ReplicaOptions},
    store::{self, StoreOptions},
};

/// What a process of the lab does. It is handed over as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Part(Role);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Role {
    Store(StoreOptions),
    Replica(ReplicaOptions),
    Forwarder(ForwarderOptions),
    Faults(Deed),
    Client(ClientOptions),
}

impl Part {
    pub(super) const fn new(role: Role) -> Self {
        Self(role)
    }

    /// The name of its process: what the probes see.
    pub(super) const fn name(&self) -> &'static str {
        match self.0 {
            Role::Store(_) => "demo-store",
            Role::Replica(_) => "demo-replica",
            Role::Forwarder(_) => "demo-forwarder",
            Role::Faults(_) => "demo-faults",
            Role::Client(_) => "demo-client",
        }
    }
}

impl FromStr for Part {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

/// What every part works with.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// Where it tells what it does.
    pub(super) teller: Teller,
    /// When it shall end.
    pub(super) lifeline: Lifeline,
}

/// Plays a part until its work is done, or whoever started this process wants it to end or is gone.
pub fn play(part: &Part) -> io::Result<()> {
    rustix::thread::set_name(&CString::new(part.name())?)?;
    let (teller, writer) = Teller::start()?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let mut lifeline = Lifeline::hold()?;
        let mut abandoned = lifeline.clone();
        // The client has to get its last answers first.
        let ends_at_once = !matches!(part.0, Role::Client(_));
        let stage = Stage { teller, lifeline: lifeline.clone() };
        tokio::select! {
            result = perform(&part.0, stage) => result,
            () = lifeline.finish(), if ends_at_once => Ok(()),
            () = abandoned.abandoned() => Ok(()),
        }
    });
    // What still holds a teller are the runtime's tasks.
    drop(runtime);
    if writer.join().is_err() {
        return Err(io::Error::other("the thread that tells what happens has panicked"));
    }
    result
}

async fn perform(role: &Role, stage: Stage) -> io::Result<()> {
    match role {
        Role::Store(options) => store::run(*options, &stage).await,
        Role::Replica(options) => replica::run(options.clone(), stage).await,
        Role::Forwarder(options) => forwarder::run(*options, &stage).await,
        Role::Faults(deed) => faults::run(deed, &stage).await.map(drop),
        Role::Client(options) => client::run(options, stage).await,
    }
}

/// The listening socket that is this process's standard input.
pub(super) fn listener() -> io::Result<tokio::net::TcpListener> {
    let listener = TcpListener::from(io::stdin().as_fd().try_clone_to_owned()?);
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}
