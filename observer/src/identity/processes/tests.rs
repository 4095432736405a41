use std::{
    net::{TcpListener, TcpStream},
    time::Instant,
};

use rustix::{
    net::sockopt,
    process::{Resource, Rlimit},
};

use super::*;
use crate::identity::namespaces::{Namespace, is_root, without_capabilities};

fn assert_mine(processes: &Processes, cookie: u64) {
    let owner = processes.owner(cookie).expect("this socket has an owner");
    assert_eq!(owner.pid, std::process::id());
    let comm = std::fs::read_to_string("/proc/self/comm").unwrap();
    assert_eq!(&*owner.comm, comm.trim_end());
}

#[test]
fn own_sockets_of_both_families_are_found() {
    for local in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(local) else {
            eprintln!("skipped: {local} cannot be bound here");
            continue;
        };
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let processes = Processes::scan();
        for cookie in [sockopt::socket_cookie(&client), sockopt::socket_cookie(&server)] {
            assert_mine(&processes, cookie.unwrap());
        }
        assert!(processes.listening_ports().contains(&listener.local_addr().unwrap().port()));
        assert!(!processes.listening_ports().contains(&client.local_addr().unwrap().port()));
    }
}

#[test]
fn two_thousand_sockets() {
    let limits = rustix::process::getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limits.maximum, maximum: limits.maximum };
    rustix::process::setrlimit(Resource::Nofile, raised).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut ends = Vec::new();
    for _ in 0..1_000 {
        let Ok(client) = TcpStream::connect(listener.local_addr().unwrap()) else {
            eprintln!("skipped: not enough descriptors here");
            return;
        };
        ends.push(client);
        ends.push(listener.accept().unwrap().0);
    }
    // The test's own table of descriptors is grown beforehand: that takes longer than the look.
    drop(rustix::io::fcntl_dupfd_cloexec(&listener, 4_000));
    let begun = Instant::now();
    let processes = Processes::scan();
    let lasted = begun.elapsed();
    for end in &ends {
        assert_mine(&processes, sockopt::socket_cookie(end).unwrap());
    }
    eprintln!("{} owned sockets found in {lasted:?}; missing: {:?}", processes.len(), processes.missing());
}

#[test]
fn what_is_missing_is_said_in_sentences() {
    let missing = Missing::Namespace { inode: 7, pid: 3, reason: "Operation not permitted".to_owned() };
    assert!(missing.to_string().contains("network namespace 7 (process 3)"));
    let one = Missing::Processes { count: 1, permitted: true }.to_string();
    assert!(one.starts_with("1 process cannot be looked into even with CAP_SYS_PTRACE: its older"), "{one}");
    assert!(!one.contains("run with"), "{one}");
    let many = Missing::Processes { count: 2, permitted: false }.to_string();
    assert!(many.starts_with("2 processes cannot be looked into: their older"), "{many}");
    assert!(many.ends_with("; run with CAP_SYS_PTRACE"), "{many}");
}

#[test]
fn sockets_of_other_network_namespaces_are_found() {
    if !is_root() {
        return;
    }
    let other = Namespace::new("processes");
    // A socket stays in its namespace, whoever holds it; a process in there leads to it.
    let mut resident = other.spawn("sleep 60");
    let (listener, client) = other.inside(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener, client)
    });
    let processes = Processes::scan();
    resident.kill().unwrap();
    resident.wait().unwrap();
    assert_mine(&processes, sockopt::socket_cookie(&client).unwrap());
    assert_mine(&processes, sockopt::socket_cookie(&listener).unwrap());
    assert!(processes.listening_ports().contains(&listener.local_addr().unwrap().port()));
    let here = std::fs::read_link("/proc/self/ns/net").unwrap();
    assert_eq!(std::fs::read_link("/proc/thread-self/ns/net").unwrap(), here, "the caller stays where it is");
}

#[test]
fn without_privileges_the_result_is_partial_and_says_so() {
    if !is_root() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let processes = without_capabilities(Processes::scan);
    assert_mine(&processes, sockopt::socket_cookie(&listener).unwrap());
    assert!(
        processes.missing().iter().any(|missing| matches!(missing, Missing::Processes { .. })),
        "{:?}",
        processes.missing()
    );
}
