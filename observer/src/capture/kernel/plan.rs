//! Which probes there are, what each is for, and what is lost without it.

use observer_common::Route;

/// Where a program is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hook {
    CgroupSkbEgress,
    CgroupSkbIngress,
    SockOps,
    Connect,
    ReadTracepoint,
    StorageIterator,
    /// Called by the programs on packets, on this way.
    Walker(Route),
}

impl Hook {
    /// The name that the kernel's documentation uses.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::CgroupSkbEgress => "cgroup_skb/egress",
            Self::CgroupSkbIngress => "cgroup_skb/ingress",
            Self::SockOps => "sock_ops",
            Self::Connect => "cgroup/connect",
            Self::ReadTracepoint => "tp_btf/tcp_rcv_space_adjust",
            Self::StorageIterator => "iter/bpf_sk_storage_map",
            Self::Walker(_) => "tail call",
        }
    }
}

/// One probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// The program's name in the object.
    pub(super) name: &'static str,
    pub(super) hook: Hook,
    /// Whether nothing can be observed without it.
    pub(super) required: bool,
    /// What cannot be told without it.
    pub(super) consequence: &'static str,
}

/// All probes, in the order in which they are attached. What pairs comes before what tells that a connection begins, so
/// that nothing of a connection that was seen to begin is missed; and answers come before requests, so that no request is
/// seen without its answer.
pub(super) const PLAN: [Probe; 9] = [
    Probe {
        name: "connect4",
        hook: Hook::Connect,
        required: false,
        consequence: "the process behind an IPv4 connection is known only once it has read a response",
    },
    Probe {
        name: "connect6",
        hook: Hook::Connect,
        required: false,
        consequence: "the process behind an IPv6 connection is known only once it has read a response",
    },
    Probe {
        name: "read",
        hook: Hook::ReadTracepoint,
        required: false,
        consequence: "a caller that reads late cannot be told from a slow backend",
    },
    Probe {
        name: "waiting",
        hook: Hook::StorageIterator,
        required: false,
        consequence: "requests that still wait, and the last exchange of every connection still open, are not seen",
    },
    Probe {
        name: "frames",
        hook: Hook::Walker(Route::Frames),
        required: false,
        consequence: "HTTP/2 and gRPC are counted, not measured",
    },
    Probe {
        name: "records",
        hook: Hook::Walker(Route::Records),
        required: false,
        consequence: "TLS is counted, not measured",
    },
    Probe {
        name: "ingress",
        hook: Hook::CgroupSkbIngress,
        required: true,
        consequence: "responses cannot be seen",
    },
    Probe {
        name: "egress",
        hook: Hook::CgroupSkbEgress,
        required: true,
        consequence: "requests cannot be seen",
    },
    Probe {
        name: "lifecycle",
        hook: Hook::SockOps,
        required: false,
        consequence: "the first exchange of accepted connections and requests that time out are not seen",
    },
];
