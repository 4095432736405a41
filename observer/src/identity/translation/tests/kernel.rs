use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use observer_common::Endpoint;

use super::super::*;
use crate::identity::namespaces::{Namespace, is_root, without_capabilities};

/// A client, the host that translates, and two backends, as a cluster's node has them.
struct Cluster {
    client: Namespace,
    host: Namespace,
    backends: Namespace,
}

const RULES: &str = "
table inet nat {
    chain translate {
        type nat hook prerouting priority -100
        ip daddr 198.51.100.1 tcp dport 80 dnat ip to numgen inc mod 2 map { 0 : 10.231.2.2, 1 : 10.231.2.3 }:8080
        ip6 daddr 2001:db8:1::1 tcp dport 80 dnat ip6 to numgen inc mod 2 map { 0 : 2001:db8:232::2, 1 : 2001:db8:232::3 }:8080
    }
    chain translate_own {
        type nat hook output priority -100
        ip daddr 198.51.100.1 tcp dport 80 dnat ip to 10.231.2.2:8080
    }
}
";

impl Cluster {
    fn new(name: &str) -> Self {
        let [client, host, backends] =
            ["client", "host", "backends"].map(|part| Namespace::new(&format!("{name}-{part}")));
        client.join(
            &["10.231.1.2/24", "2001:db8:231::2/64"],
            &host,
            &["10.231.1.1/24", "2001:db8:231::1/64"],
            "clients",
        );
        let ends = ["10.231.2.2/24", "10.231.2.3/24", "2001:db8:232::2/64", "2001:db8:232::3/64"];
        backends.join(&ends, &host, &["10.231.2.1/24", "2001:db8:232::1/64"], "servers");
        for (namespace, gateway) in [(&client, "1"), (&backends, "2")] {
            namespace.ip(&format!("route add default via 10.231.{gateway}.1"));
            namespace.ip(&format!("-6 route add default via 2001:db8:23{gateway}::1"));
        }
        host.set("net.ipv4.ip_forward", "1");
        host.set("net.ipv6.conf.all.forwarding", "1");
        // Without a route, the host's own connections end before their translation.
        host.ip("route add 198.51.100.0/24 via 10.231.2.2");
        Self { client, host, backends }
    }

    fn translate(&self) {
        self.host.command(&format!("nft '{}'", RULES.trim()));
    }

    /// A listener of both families at the backends. It accepts nothing: the kernel completes handshakes by itself.
    fn listen(&self) -> TcpListener {
        self.backends.inside(|| TcpListener::bind("[::]:8080").unwrap())
    }
}

fn connect(namespace: &Namespace, to: &str) -> TcpStream {
    let to: SocketAddr = to.parse().unwrap();
    namespace.inside(|| TcpStream::connect_timeout(&to, Duration::from_secs(5)).unwrap())
}

fn ends(stream: &TcpStream) -> (Endpoint, Endpoint) {
    let end = |address: std::io::Result<SocketAddr>| Endpoint::from_socket_addr(address.unwrap());
    (end(stream.local_addr()), end(stream.peer_addr()))
}

fn poll(conntrack: &mut Conntrack, translations: &mut Translations) {
    conntrack.poll(|change| translations.apply(change)).unwrap();
}

#[test]
fn a_translated_connection_shows_its_backend() {
    if !is_root() {
        return;
    }
    let cluster = Cluster::new("dnat");
    cluster.translate();
    let _listener = cluster.listen();
    cluster.host.inside(|| {
        let mut conntrack = Conntrack::subscribe().unwrap();
        let mut translations = Translations::default();
        for (dialled, backends) in [
            ("198.51.100.1:80", ["10.231.2.2:8080", "10.231.2.3:8080"]),
            ("[2001:db8:1::1]:80", ["[2001:db8:232::2]:8080", "[2001:db8:232::3]:8080"]),
        ] {
            let streams: Vec<TcpStream> = (0..4).map(|_| connect(&cluster.client, dialled)).collect();
            // No waiting: the event is older than the answer to the handshake.
            without_capabilities(|| poll(&mut conntrack, &mut translations));
            let mut reached = BTreeSet::new();
            for stream in &streams {
                let (client, dialled) = ends(stream);
                let backend = translations.backend(client, dialled).expect("the connection is translated");
                reached.insert(backend.to_socket_addr().to_string());
                assert!(translations.is_virtual(dialled));
            }
            assert_eq!(reached, backends.map(str::to_owned).into());
        }
        assert_eq!((translations.len(), conntrack.overruns(), conntrack.unreadable()), (8, 0, 0));
        without_capabilities(|| {
            assert!(matches!(Conntrack::dump(|_| ()), Err(ConntrackError::Dump(_))));
            assert!(matches!(Conntrack::subscribe(), Err(ConntrackError::Subscribe(_))));
        });
    });
}

#[test]
fn connections_older_than_the_subscription_are_dumped() {
    if !is_root() {
        return;
    }
    let cluster = Cluster::new("dump");
    cluster.translate();
    let _listener = cluster.listen();
    let older = connect(&cluster.client, "198.51.100.1:80");
    let own = connect(&cluster.host, "198.51.100.1:80");
    let _plain = connect(&cluster.client, "10.231.2.2:8080");
    cluster.host.inside(|| {
        let mut translations = Translations::default();
        Conntrack::dump(|translation| translations.insert(translation)).unwrap();
        assert_eq!(translations.len(), 2, "what nobody translates is no translation");
        for stream in [&older, &own] {
            let (client, dialled) = ends(stream);
            let backend: IpAddr = translations.backend(client, dialled).unwrap().address.to_ip();
            assert!(["10.231.2.2", "10.231.2.3"].contains(&backend.to_string().as_str()));
        }
    });
}

#[test]
fn a_forgotten_connection_leaves_the_table() {
    if !is_root() {
        return;
    }
    let cluster = Cluster::new("gone");
    cluster.translate();
    let _listener = cluster.listen();
    cluster.host.inside(|| {
        let mut conntrack = Conntrack::subscribe().unwrap();
        let mut translations = Translations::default();
        let stream = connect(&cluster.client, "198.51.100.1:80");
        cluster.host.set("net.netfilter.nf_conntrack_tcp_timeout_close_wait", "1");
        cluster.host.set("net.netfilter.nf_conntrack_tcp_timeout_fin_wait", "1");
        poll(&mut conntrack, &mut translations);
        assert_eq!(translations.len(), 1);
        drop(stream);
        for _ in 0..50 {
            thread::sleep(Duration::from_millis(200));
            // A dump makes the kernel look at its entries, and forget those whose time is over.
            Conntrack::dump(|_| ()).unwrap();
            poll(&mut conntrack, &mut translations);
            if translations.is_empty() {
                break;
            }
        }
        assert!(translations.is_empty());
        assert!(translations.is_virtual(Endpoint::from_socket_addr("198.51.100.1:80".parse().unwrap())));
    });
}

#[test]
fn a_namespace_without_rules_tracks_nothing() {
    if !is_root() {
        return;
    }
    let cluster = Cluster::new("plain");
    let _listener = cluster.listen();
    cluster.host.inside(|| {
        let mut conntrack = Conntrack::subscribe().unwrap();
        let _stream = connect(&cluster.client, "10.231.2.2:8080");
        conntrack.poll(|change| panic!("{change:?}")).unwrap();
        Conntrack::dump(|translation| panic!("{translation:?}")).unwrap();
    });
}

#[test]
fn an_overrun_is_counted_and_survived() {
    if !is_root() {
        return;
    }
    let cluster = Cluster::new("overrun");
    cluster.translate();
    let _listener = cluster.listen();
    cluster.host.inside(|| {
        let mut conntrack = Conntrack::subscribe().unwrap();
        rustix::net::sockopt::set_socket_recv_buffer_size(&conntrack, 1).unwrap();
        let _streams: Vec<TcpStream> = (0..40).map(|_| connect(&cluster.client, "198.51.100.1:80")).collect();
        let mut translations = Translations::default();
        poll(&mut conntrack, &mut translations);
        assert!(conntrack.overruns() > 0);
        assert!(translations.len() < 40);
        let later = connect(&cluster.client, "198.51.100.1:80");
        poll(&mut conntrack, &mut translations);
        let (client, dialled) = ends(&later);
        assert!(translations.backend(client, dialled).is_some(), "it goes on");
    });
}

/// Whether somebody listens is known for the whole host: other tests would make the event appear, so this one runs
/// alone (`.config/nextest.toml`).
#[test]
fn what_was_dumped_ends_without_an_event() {
    if !is_root() {
        return;
    }
    let cluster = Cluster::new("silent");
    cluster.translate();
    let _listener = cluster.listen();
    for state in ["close_wait", "fin_wait", "last_ack", "time_wait", "close"] {
        cluster.host.set(&format!("net.netfilter.nf_conntrack_tcp_timeout_{state}"), "1");
    }
    let older = connect(&cluster.client, "198.51.100.1:80");
    cluster.host.inside(|| {
        let mut conntrack = Conntrack::subscribe().unwrap();
        drop(older);
        let mut left = 1;
        for _ in 0..50 {
            thread::sleep(Duration::from_millis(200));
            left = 0;
            Conntrack::dump(|_| left += 1).unwrap();
            if left == 0 {
                break;
            }
        }
        assert_eq!(left, 0, "the kernel forgot it");
        conntrack.poll(|change| panic!("{change:?}")).unwrap();
    });
}
