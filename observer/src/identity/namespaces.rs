//! For tests: network namespaces with a client, a host that translates, and backends, joined by veth pairs.

use std::{
    fs::File,
    os::fd::AsFd,
    process::{Child, Command},
    thread,
};

use rustix::thread::{CapabilitySet, CapabilitySets, LinkNameSpaceType};

/// Whether tests that need root can run; says so where they cannot.
pub(super) fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: this test makes network namespaces, which needs root");
    }
    root
}

/// A network namespace that is deleted in the end.
pub(super) struct Namespace {
    name: String,
}

impl Namespace {
    /// A new one with its loopback interface up. The name only has to be unique within a test process.
    pub(super) fn new(name: &str) -> Self {
        let name = format!("observer-{}-{name}", std::process::id());
        run(&format!("ip netns add {name}"));
        let namespace = Self { name };
        namespace.ip("link set lo up");
        namespace
    }

    /// Runs `ip` inside.
    pub(super) fn ip(&self, arguments: &str) {
        run(&format!("ip -n {} {arguments}", self.name));
    }

    /// Runs any command inside.
    pub(super) fn command(&self, command: &str) {
        run(&format!("ip netns exec {} {command}", self.name));
    }

    /// Starts a command inside, which the caller has to end.
    pub(super) fn spawn(&self, command: &str) -> Child {
        let command = format!("exec ip netns exec {} {command}", self.name);
        let child = Command::new("sh").args(["-c", &command]).spawn().unwrap();
        // It is inside as soon as it is no longer where it was started.
        let here = std::fs::read_link("/proc/thread-self/ns/net").unwrap();
        while std::fs::read_link(format!("/proc/{}/ns/net", child.id())).unwrap() == here {
            thread::yield_now();
        }
        child
    }

    /// Sets a kernel parameter inside.
    pub(super) fn set(&self, parameter: &str, value: &str) {
        self.command(&format!("sysctl -q -w {parameter}={value}"));
    }

    /// Joins two namespaces: each end gets these addresses.
    pub(super) fn join(&self, own: &[&str], other: &Self, others: &[&str], link: &str) {
        self.ip(&format!("link add name {link} type veth peer name {link} netns {}", other.name));
        for (namespace, addresses) in [(self, own), (other, others)] {
            for address in addresses {
                // Without duplicate detection, IPv6 addresses work at once.
                let nodad = if address.contains("::") { "nodad" } else { "" };
                namespace.ip(&format!("address add {address} dev {link} {nodad}"));
            }
            namespace.ip(&format!("link set {link} up"));
        }
    }

    /// Runs `work` in a thread that lives in the namespace.
    pub(super) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            scope
                .spawn(|| {
                    let namespace = File::open(format!("/run/netns/{}", self.name)).unwrap();
                    let kind = Some(LinkNameSpaceType::Network);
                    rustix::thread::move_into_link_name_space(namespace.as_fd(), kind).unwrap();
                    work()
                })
                .join()
                .unwrap()
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // A panic while a test fails would hide why it fails.
        let _gone = Command::new("ip").args(["netns", "delete", &self.name]).status();
    }
}

/// Runs `work` as the tool runs after its start: nothing that it does may need a capability.
pub(super) fn without_capabilities<T>(work: impl FnOnce() -> T) -> T {
    let all = rustix::thread::capabilities(None).unwrap();
    let none = CapabilitySets { effective: CapabilitySet::empty(), ..all };
    rustix::thread::set_capabilities(None, none).unwrap();
    let result = work();
    rustix::thread::set_capabilities(None, all).unwrap();
    result
}

fn run(command: &str) {
    let output = Command::new("sh").args(["-c", command]).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}
