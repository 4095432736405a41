//! Why there is no lab.

use std::{io, net::SocketAddr, os::unix::process::ExitStatusExt, process::ExitStatus};

use super::hedging::PolicyError;

/// Why there is no lab, or no more.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The client's policy contradicts itself.
    #[error("this is no way to hedge: {0}")]
    Policy(#[from] PolicyError),
    /// More replicas than there are addresses set aside for them.
    #[error("{wanted} replicas are too many: ask for {most} at most")]
    TooManyReplicas {
        /// How many were asked for.
        wanted: usize,
        /// How many there can be.
        most: usize,
    },
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
    #[error("the demo found no port that is free on all of its addresses from {first} on; try again")]
    NoPort {
        /// The first of the addresses.
        first: SocketAddr,
    },
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
    /// A process was killed.
    #[error(
        "the demo's {name} was ended by signal {signal}, not by its own doing; look for who sent it (for want of memory \
         the kernel does: `dmesg`), and run the demo again"
    )]
    Killed {
        /// Which process.
        name: String,
        /// The signal's number.
        signal: i32,
    },
    /// A process does not end.
    #[error("the demo's {name} does not end; this machine is too busy for the demo")]
    Stuck {
        /// Which process.
        name: String,
    },
}

impl LabError {
    /// That a process ended early, and how.
    pub(super) fn ended(name: String, status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Killed { name, signal },
            None => Self::Ended { name, status },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_ends_by_itself_has_words_of_its_own() {
        let said = |status| LabError::ended("client".into(), ExitStatus::from_raw(status)).to_string();
        assert!(said(9).starts_with("the demo's client was ended by signal 9"), "{}", said(9));
        assert!(said(1 << 8).ends_with("(exit status: 1); its own words are above"), "{}", said(1 << 8));
    }
}
