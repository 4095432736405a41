//! The TCP sockets of network namespaces, as `sock_diag` lists them.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs::{self, File},
    io,
    os::{fd::AsFd, unix::fs::MetadataExt},
    thread,
};

use netlink_packet_sock_diag::{
    AF_INET, AF_INET6, IPPROTO_TCP, SockDiagMessage, TCP_LISTEN,
    inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags},
};
use rustix::thread::LinkNameSpaceType;

use super::Missing;
use crate::identity::netlink::Netlink;

/// Sockets kept; more than a host has descriptors for.
const MOST_SOCKETS: usize = 1_000_000;

/// Network namespaces looked into: one a pod.
const MOST_NAMESPACES: usize = 4_096;

/// What the namespaces hold.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    /// From a socket's inode to its cookie.
    pub(super) cookies: HashMap<u64, u64>,
    /// The cookies of those that are no listeners.
    pub(super) connected: HashSet<u64>,
    /// Ports with a listener.
    pub(super) listening: BTreeSet<u16>,
}

/// One process in each network namespace, by the namespace's inode. A namespace that no process is in has sockets
/// only where one was handed out; those are not looked for.
pub(super) fn namespaces(pids: &[u32], missing: &mut Vec<Missing>) -> BTreeMap<u64, u32> {
    let mut namespaces = BTreeMap::new();
    let mut refused = 0;
    for &pid in pids {
        // Only the inode is wanted: less work than reading all namespaces of the process.
        match fs::metadata(format!("/proc/{pid}/ns/net")) {
            Ok(metadata) => {
                namespaces.entry(metadata.ino()).or_insert(pid);
            }
            // The kernel asks for the same permission here and for the descriptors.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refused += 1,
            // It has gone.
            Err(_) => {}
        }
    }
    if refused > 0 {
        missing.push(Missing::Processes { count: refused, permitted: super::may_look() });
    }
    namespaces
}

/// Lists the sockets of all given namespaces. This process's own one is listed even if `/proc` names none.
pub(super) fn in_namespaces(mut namespaces: BTreeMap<u64, u32>, missing: &mut Vec<Missing>) -> Sockets {
    let own = fs::metadata("/proc/self/ns/net").map(|metadata| metadata.ino());
    if let Ok(own) = &own {
        namespaces.remove(own);
    }
    let mut sockets = Sockets::default();
    if let Err(error) = list(&mut sockets) {
        let reason = error.to_string();
        missing.push(Missing::Namespace { inode: own.unwrap_or(0), pid: std::process::id(), reason });
    }
    if namespaces.len() > MOST_NAMESPACES {
        missing.push(Missing::TooMany { what: "network namespaces", limit: MOST_NAMESPACES });
    }
    if !namespaces.is_empty() {
        // A thread that has entered another namespace must not come back to serve somebody else.
        let others =
            thread::Builder::new().name("namespaces".to_owned()).spawn(move || list_others(&namespaces));
        let listed = others.map_err(|error| error.to_string()).and_then(|thread| {
            thread.join().map_err(|_| "the thread that looked at them ended early".to_owned())
        });
        match listed {
            Ok((listed, unseen)) => {
                sockets.cookies.extend(listed.cookies);
                sockets.connected.extend(listed.connected);
                sockets.listening.extend(listed.listening);
                missing.extend(unseen);
            }
            Err(reason) => missing.push(Missing::Everything { reason }),
        }
    }
    if sockets.cookies.len() >= MOST_SOCKETS {
        missing.push(Missing::TooMany { what: "sockets", limit: MOST_SOCKETS });
    }
    sockets
}

fn list_others(namespaces: &BTreeMap<u64, u32>) -> (Sockets, Vec<Missing>) {
    let (mut sockets, mut missing) = (Sockets::default(), Vec::new());
    for (&inode, &pid) in namespaces.iter().take(MOST_NAMESPACES) {
        let listed = match enter(inode, pid) {
            // A namespace that went with its last process has nothing to be missed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entered => entered.and_then(|()| list(&mut sockets)),
        };
        if let Err(error) = listed {
            missing.push(Missing::Namespace { inode, pid, reason: error.to_string() });
        }
    }
    (sockets, missing)
}

fn enter(inode: u64, pid: u32) -> io::Result<()> {
    let namespace = File::open(format!("/proc/{pid}/ns/net"))?;
    if namespace.metadata()?.ino() != inode {
        // The identifier is another process's by now.
        return Err(io::ErrorKind::NotFound.into());
    }
    rustix::thread::move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
    Ok(())
}

/// Lists the sockets of the network namespace that the calling thread is in.
fn list(sockets: &mut Sockets) -> io::Result<()> {
    let mut netlink = Netlink::open(rustix::net::netlink::SOCK_DIAG, 0)?;
    for (family, socket_id) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
        let request = InetRequest {
            family,
            protocol: IPPROTO_TCP,
            extensions: ExtensionFlags::empty(),
            // Neither is anybody's: a finished one has no inode, a half-open one no socket yet.
            states: StateFlags::all().difference(StateFlags::TIME_WAIT | StateFlags::SYN_RECV),
            socket_id,
        };
        let listed = netlink.dump(SockDiagMessage::InetRequest(request), |answer| {
            if let SockDiagMessage::InetResponse(socket) = answer {
                sockets.take_up(&socket);
            }
        });
        match listed {
            // A kernel without IPv6 has no such sockets.
            Err(error) if family == AF_INET6 && error.kind() == io::ErrorKind::NotFound => {}
            listed => listed?,
        }
    }
    Ok(())
}

impl Sockets {
    fn take_up(&mut self, socket: &InetResponse) {
        let header = &socket.header;
        if header.state == TCP_LISTEN {
            self.listening.insert(header.socket_id.source_port);
        }
        if header.inode != 0 && self.cookies.len() < MOST_SOCKETS {
            let cookie = cookie(header.socket_id.cookie);
            self.cookies.insert(u64::from(header.inode), cookie);
            if header.state != TCP_LISTEN {
                self.connected.insert(cookie);
            }
        }
    }
}

/// The kernel hands a cookie out as two words of its own byte order, the lower one first.
fn cookie(bytes: [u8; 8]) -> u64 {
    let [lower, upper] = [0, 4].map(|at| {
        let mut word = [0; 4];
        word.copy_from_slice(&bytes[at..at + 4]);
        u64::from(u32::from_ne_bytes(word))
    });
    upper << 32 | lower
}
