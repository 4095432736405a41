//! A client, a host between, and backends, as a cluster's node has them.

use std::net::TcpListener;

use anyhow::Result;
use observer_tests::network::Namespace;

/// Where the backends listen.
pub(crate) const PORT: u16 = 8080;

/// The addresses that nobody has.
pub(crate) const DIALLED: [&str; 2] = ["198.51.100.1:80", "[2001:db8:1::1]:80"];

/// The rules, with the hook at which connections are translated.
const RULES: &str = "table inet nat {
    chain translate {
        type nat hook HOOK priority -100
        ip daddr 198.51.100.1 tcp dport 80 dnat ip to numgen inc mod 3 map V4:8080
        ip6 daddr 2001:db8:1::1 tcp dport 80 dnat ip6 to numgen inc mod 3 map V6:8080
    }
}";

/// How many backends there are of each family.
pub(crate) const BACKENDS: usize = 3;

/// Three namespaces in a row.
pub(crate) struct Cluster {
    pub(crate) client: Namespace,
    pub(crate) host: Namespace,
    backends: Namespace,
}

impl Cluster {
    pub(crate) fn new() -> Result<Self> {
        let (client, host, backends) = (Namespace::new()?, Namespace::new()?, Namespace::new()?);
        for (namespace, device, network, ends) in
            [(&client, "clients", "1", &["2"][..]), (&backends, "servers", "2", &["2", "3", "4"])]
        {
            namespace.ip(&format!("link add wire type veth peer name {device} netns {}", host.name()))?;
            let sides = ends.iter().map(|end| (namespace, "wire", *end)).chain([(&host, device, "1")]);
            for (side, device, end) in sides {
                side.ip(&format!("addr add 10.231.{network}.{end}/24 dev {device}"))?;
                side.ip(&format!("addr add 2001:db8:23{network}::{end}/64 dev {device} nodad"))?;
            }
            namespace.ip("link set wire up")?;
            host.ip(&format!("link set {device} up"))?;
            namespace.ip(&format!("route add default via 10.231.{network}.1"))?;
            namespace.ip(&format!("-6 route add default via 2001:db8:23{network}::1"))?;
        }
        host.set("ipv4/ip_forward", "1")?;
        host.set("ipv6/conf/all/forwarding", "1")?;
        Ok(Self { client, host, backends })
    }

    /// Sends what is dialled to the backends in turn, at a hook of one namespace.
    pub(crate) fn translate(namespace: &Namespace, hook: &str) -> Result<()> {
        let rules = RULES
            .replace("HOOK", hook)
            .replace("V4", "{ 0 : 10.231.2.2, 1 : 10.231.2.3, 2 : 10.231.2.4 }")
            .replace("V6", "{ 0 : 2001:db8:232::2, 1 : 2001:db8:232::3, 2 : 2001:db8:232::4 }");
        namespace.nft(&rules)?;
        Ok(())
    }

    /// Listens at all backends' addresses.
    pub(crate) fn listen(&self) -> Result<TcpListener> {
        Ok(self.backends.run(|| TcpListener::bind(("::", PORT)))??)
    }
}
