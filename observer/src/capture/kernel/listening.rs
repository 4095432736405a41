//! Ports that have a listener: what tells a server's connection from a client's where no handshake was seen.

use std::collections::BTreeSet;

use observer_common::LISTENING_WORDS;
use procfs::{
    net::{TcpNetEntry, TcpState},
    process::Process,
};

/// One bit for every port on which somebody listens, in any network namespace that this process can look into.
pub(super) fn listening_ports() -> Vec<u64> {
    let mut words = vec![0_u64; LISTENING_WORDS as usize];
    let mut namespaces = BTreeSet::new();
    let processes = procfs::process::all_processes().into_iter().flatten().flatten();
    for process in Process::myself().into_iter().chain(processes) {
        // One look per namespace; a process that has gone meanwhile has nothing to say.
        let Ok(all) = process.namespaces() else { continue };
        let Some(network) = all.0.get(std::ffi::OsStr::new("net")) else { continue };
        if !namespaces.insert(network.identifier) {
            continue;
        }
        for entry in process.tcp().into_iter().flatten().chain(process.tcp6().into_iter().flatten()) {
            mark(&mut words, &entry);
        }
    }
    words
}

fn mark(words: &mut [u64], entry: &TcpNetEntry) {
    if entry.state == TcpState::Listen {
        let port = entry.local_address.port();
        words[usize::from(port / 64)] |= 1 << (port % 64);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_open_listener_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let words = listening_ports();
        assert_ne!(words[usize::from(port / 64)] & (1 << (port % 64)), 0);
    }
}
