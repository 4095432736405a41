//! Three replicas and a client on loopback, one replica pausing now and then: something to observe.
//!
//! All four are processes of their own, started from this very program, that speak HTTP/1.1 over real sockets.
//! The client keeps its own timestamps around every request and hands them over at the end.

mod behaviour;
mod child;
mod client;
mod comparison;
mod connection;
mod http;
mod lifeline;
mod log;
mod replica;
mod schedule;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::fd::OwnedFd,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use child::Process;
pub use client::{ClientOptions, run_client};
pub use comparison::Comparison;
use jiff::SignedDuration;
pub use replica::{ReplicaOptions, run_replica};
use tempfile::TempDir;

/// The hidden subcommand that runs a replica.
pub const REPLICA_COMMAND: &str = "demo-replica";
/// The hidden subcommand that runs the client, which is also the name of its threads: what the probes see.
pub const CLIENT_COMMAND: &str = "demo-client";

/// Addresses of their own, so that each replica is an instance and all listen on one port, as real ones do.
const ADDRESSES: [Ipv4Addr; 3] =
    [Ipv4Addr::new(127, 0, 0, 11), Ipv4Addr::new(127, 0, 0, 12), Ipv4Addr::new(127, 0, 0, 13)];
/// Which of them pauses.
const PAUSING: usize = 1;
/// Requests a second: enough for a stable p99 in a few seconds, and little work for a small machine.
const RATE: u32 = 300;
/// Every run of the demo is alike.
const SEED: u64 = 2_026;
/// How many ports are tried before all three addresses have the same one free.
const PORTS_TRIED: usize = 16;
/// How long the client may take to end after it was told: longer than it waits for its last answer.
const ENDING: Duration = Duration::from_secs(3);
/// Stack of a connection's thread; there are hundreds, and they do little.
const STACK: usize = 128 * 1024;

/// Why there is no demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// An address of the loopback network cannot be used.
    #[error(
        "the demo cannot listen on {address}: {source}; it needs the loopback network 127.0.0.0/8, which \
         `ip link set lo up` brings up"
    )]
    Loopback {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// Other programs use too many ports.
    #[error("the demo found no port that is free on {} at once; try again", ADDRESSES.map(|address| address.to_string()).join(", "))]
    NoPort,
    /// A file or directory for the client's log cannot be made.
    #[error("the demo cannot make a temporary directory: {0}; set TMPDIR to a directory that is writable")]
    Temporary(#[source] io::Error),
    /// A process does not start.
    #[error("the demo cannot start its {name}: {source}; check the limit on processes (`ulimit -u`)")]
    Start {
        /// Which process.
        name: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The system does not tell about a process.
    #[error("the demo cannot wait for its {name}: {source}")]
    Wait {
        /// Which process.
        name: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A process ended early.
    #[error("the demo's {name} ended before its time ({status}); its own words are above")]
    Ended {
        /// Which process.
        name: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// The client does not end.
    #[error("the demo's {name} does not end; this machine is too busy for the demo")]
    Stuck {
        /// Which process.
        name: String,
    },
}

/// The running demo. All its processes end when it is dropped, or when this process ends.
#[derive(Debug)]
pub struct Demo {
    // In the order in which they are to end.
    client: Process,
    replicas: Vec<Process>,
    instances: Vec<SocketAddr>,
    directory: TempDir,
}

impl Demo {
    /// Starts replicas and client. Requests begin within a second and go on for `duration`.
    pub fn start(duration: SignedDuration) -> Result<Self, DemoError> {
        let directory = tempfile::tempdir().map_err(DemoError::Temporary)?;
        let listeners = listen()?;
        let instances: Vec<_> = listeners.iter().map(|&(address, _)| address).collect();
        let mut replicas = Vec::new();
        for (index, (address, listener)) in listeners.into_iter().enumerate() {
            let options = ReplicaOptions { seed: SEED + (index as u64) * 1_000, pausing: index == PAUSING };
            let input = Stdio::from(OwnedFd::from(listener));
            let name = format!("replica {address}");
            replicas.push(Process::start(name, REPLICA_COMMAND, options.arguments(), input)?);
        }
        let options =
            ClientOptions { instances: instances.clone(), rate: RATE, duration, log: log_in(&directory) };
        let client = Process::start("client".into(), CLIENT_COMMAND, options.arguments(), Stdio::piped())?;
        Ok(Self { client, replicas, instances, directory })
    }

    /// The replicas' addresses.
    pub fn instances(&self) -> &[SocketAddr] {
        &self.instances
    }

    /// Tells the client to send no more. It ends once it has the last answers: [`Self::finished`] says when.
    pub fn stop(&mut self) {
        self.client.close_input();
    }

    /// Whether the client has sent all its requests and written its log.
    pub fn finished(&mut self) -> Result<bool, DemoError> {
        for replica in &mut self.replicas {
            if let Some(status) = replica.ended()? {
                return Err(replica.failed(status));
            }
        }
        match self.client.ended()? {
            None => Ok(false),
            Some(status) if status.success() => Ok(true),
            Some(status) => Err(self.client.failed(status)),
        }
    }

    /// Ends the client if it still runs, then the replicas, and hands over what the client saw.
    pub fn finish(mut self) -> Result<ClientLog, DemoError> {
        self.stop();
        self.client.wait(ENDING)?;
        Ok(ClientLog { directory: self.directory })
    }
}

/// The exchange log of the demo's client. The file is removed when this is dropped.
#[derive(Debug)]
pub struct ClientLog {
    directory: TempDir,
}

impl ClientLog {
    /// Where it is: a CSV with the columns of the exchange log.
    pub fn path(&self) -> PathBuf {
        log_in(&self.directory)
    }
}

fn log_in(directory: &TempDir) -> PathBuf {
    directory.path().join("client.csv")
}

/// One listening socket an address, all with the same port.
fn listen() -> Result<Vec<(SocketAddr, TcpListener)>, DemoError> {
    for _ in 0..PORTS_TRIED {
        let mut listeners = Vec::new();
        let mut port = 0;
        for ip in ADDRESSES {
            let address = SocketAddr::from((ip, port));
            match TcpListener::bind(address).and_then(|listener| Ok((listener.local_addr()?, listener))) {
                Ok((address, listener)) => {
                    port = address.port();
                    listeners.push((address, listener));
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => break,
                Err(source) => return Err(DemoError::Loopback { address, source }),
            }
        }
        if listeners.len() == ADDRESSES.len() {
            return Ok(listeners);
        }
    }
    Err(DemoError::NoPort)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_share_a_port_and_no_address() {
        let listeners = listen().unwrap();
        let ports: Vec<_> = listeners.iter().map(|(address, _)| address.port()).collect();
        assert_eq!(ports, [ports[0]; ADDRESSES.len()]);
        assert!(listeners.iter().all(|(address, listener)| listener.local_addr().unwrap() == *address));
    }
}
