//! Which process owns which socket, for connections that are older than the tool.
//!
//! The probes learn a connection's process when it is made. For the others the kernel is asked once, at start,
//! in every network namespace: `sock_diag` gives each TCP socket's cookie (the very number that the probes see)
//! and inode, and `/proc/*/fd` says which process has that inode open.
//!
//! A `task_file` iterator would do the same inside the kernel, but it has to follow pointers of `task_struct` and
//! `file`, whose offsets differ between kernels. Rust's eBPF target has no relocations for them (CO-RE), so the
//! offsets of one kernel would be built in.
//!
//! Looking into another network namespace needs `CAP_SYS_ADMIN` and, like another user's descriptors,
//! `CAP_SYS_PTRACE`. What is not permitted is left out, and [`Processes::missing`] says so.

mod descriptors;
mod sockets;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use caps::{CapSet, Capability};

/// A process that has a socket open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The process identifier, in the tool's pid namespace.
    pub pid: u32,
    /// The process's name, as in `/proc/PID/comm`.
    pub comm: Box<str>,
}

/// What the look at sockets and processes could not see.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// Processes or their network namespaces cannot be listed.
    #[error(
        "processes and their network namespaces cannot be listed: {reason}; older connections have no process; \
         check that /proc is mounted"
    )]
    Everything {
        /// What the system said.
        reason: String,
    },
    /// A network namespace could not be entered or its sockets not listed.
    #[error(
        "sockets of network namespace {inode} (process {pid}) cannot be listed: {reason}; its older connections \
         have no process; run with CAP_SYS_ADMIN and CAP_SYS_PTRACE"
    )]
    Namespace {
        /// The namespace, as `ls -l /proc/PID/ns/net` prints it.
        inode: u64,
        /// A process in it.
        pid: u32,
        /// What the system said.
        reason: String,
    },
    /// Some processes keep their descriptors and namespaces to themselves.
    #[error("{}", refusal(*count, *permitted))]
    Processes {
        /// How many processes.
        count: usize,
        /// Whether this process may look into others (`CAP_SYS_PTRACE`), and these refuse all the same.
        permitted: bool,
    },
    /// There was more to look at than the bound allows.
    #[error("there are more than {limit} {what}: some older connections have no process")]
    TooMany {
        /// What was bounded.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
}

/// Whether this process may look into others.
fn may_look() -> bool {
    caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_PTRACE).unwrap_or(false)
}

/// Says that processes cannot be looked into, and what to do about it where something can be done.
fn refusal(count: usize, permitted: bool) -> String {
    let (processes, their) = if count == 1 { ("process", "its") } else { ("processes", "their") };
    let (even, advice) =
        if permitted { (" even with CAP_SYS_PTRACE", "") } else { ("", "; run with CAP_SYS_PTRACE") };
    format!(
        "{count} {processes} cannot be looked into{even}: {their} older connections have no process, and listeners \
         in network namespaces of {their} own are unknown{advice}"
    )
}

/// The owners of the TCP sockets that were open at one moment, and the ports that somebody listened on.
#[derive(Debug, Default)]
pub struct Processes {
    owners: HashMap<u64, Owner>,
    listening: BTreeSet<u16>,
    missing: Vec<Missing>,
}

impl Processes {
    /// Looks once at every network namespace and process that this process may look at.
    ///
    /// Namespaces are entered by a thread that ends with the look: the caller stays where it is.
    pub fn scan() -> Self {
        let mut scanned = Self::default();
        let pids = match descriptors::processes() {
            Ok(pids) => pids,
            Err(error) => {
                scanned.missing.push(Missing::Everything { reason: error.to_string() });
                return scanned;
            }
        };
        let namespaces = sockets::namespaces(&pids, &mut scanned.missing);
        let sockets = sockets::in_namespaces(namespaces, &mut scanned.missing);
        scanned.listening = sockets.listening;
        scanned.owners = descriptors::owners(&pids, &sockets.cookies, &mut scanned.missing);
        // Whoever keeps his descriptors to himself hides nothing where every socket has an owner. Who may look into
        // all others meets but a few that refuse: their listeners tell nothing about a connection's process.
        let hides_nothing = if may_look() {
            sockets.connected.iter().all(|cookie| scanned.owners.contains_key(cookie))
        } else {
            scanned.owners.len() >= sockets.cookies.len()
        };
        if hides_nothing {
            scanned.missing.retain(|missing| !matches!(missing, Missing::Processes { .. }));
        }
        scanned
    }

    /// The process that has the socket with this cookie open; of several, the one with the lowest identifier.
    pub fn owner(&self, cookie: u64) -> Option<&Owner> {
        self.owners.get(&cookie)
    }

    /// The ports that somebody listens on, in any network namespace that could be looked into.
    pub fn listening_ports(&self) -> &BTreeSet<u16> {
        &self.listening
    }

    /// What could not be seen; each prints as a sentence.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// How many sockets have a known owner.
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    /// Whether no owner is known.
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }
}
