//! Which traffic is observed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::transport::Io;

/// Which kind of addresses a connection has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
    /// IPv4 through IPv6 sockets at both ends.
    Mapped,
}

impl Family {
    /// Where the server listens.
    pub const fn listen(self) -> &'static str {
        match self {
            Self::V4 => "127.0.0.1:0",
            Self::V6 => "[::1]:0",
            Self::Mapped => "[::]:0",
        }
    }

    /// Where the client connects to.
    pub const fn connect(self, port: u16) -> SocketAddr {
        let address = match self {
            Self::V4 => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Self::V6 => IpAddr::V6(Ipv6Addr::LOCALHOST),
            Self::Mapped => IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped()),
        };
        SocketAddr::new(address, port)
    }
}

/// One client process and one server process.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// How the client does I/O.
    pub client: Io,
    /// How the server does I/O.
    pub server: Io,
    /// Which addresses they use.
    pub family: Family,
    /// How many connections the client opens.
    pub connections: u32,
    /// How many requests it sends on each.
    pub requests: u32,
    /// How many of those ask for 10 MB.
    pub large: u32,
    /// Whether all of them are small and immediate.
    pub quick: bool,
}

/// All groups that run at once.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The groups.
    pub groups: Vec<Group>,
}

impl Plan {
    /// More than 200,000 requests on 64 connections, over every kind of I/O and of address.
    pub fn full() -> Self {
        let mixed = |client, server, family, connections| Group {
            client,
            server,
            family,
            connections,
            requests: 1500,
            large: 1,
            quick: false,
        };
        let quick = |family, connections| Group {
            client: Io::Blocking,
            server: Io::Blocking,
            family,
            connections,
            requests: 7500,
            large: 0,
            quick: true,
        };
        Self {
            groups: vec![
                quick(Family::V4, 8),
                quick(Family::V6, 8),
                quick(Family::Mapped, 4),
                mixed(Io::Blocking, Io::Blocking, Family::V4, 4),
                mixed(Io::Blocking, Io::Blocking, Family::V6, 4),
                mixed(Io::Blocking, Io::Blocking, Family::Mapped, 2),
                mixed(Io::Epoll, Io::Epoll, Family::V4, 5),
                mixed(Io::Epoll, Io::Epoll, Family::V6, 4),
                mixed(Io::Ring, Io::Ring, Family::V4, 5),
                mixed(Io::Ring, Io::Ring, Family::V6, 4),
                mixed(Io::Blocking, Io::Sendfile, Family::V4, 4),
                mixed(Io::Epoll, Io::Sendfile, Family::V6, 4),
                mixed(Io::Splice, Io::Splice, Family::V4, 4),
                mixed(Io::Ring, Io::Splice, Family::V6, 4),
            ],
        }
    }

    /// A short plan for slow machines: 2,000 requests on 8 connections.
    pub fn short() -> Self {
        let group = |client, server, family| Group {
            client,
            server,
            family,
            connections: 2,
            requests: 250,
            large: 0,
            quick: false,
        };
        Self {
            groups: vec![
                group(Io::Blocking, Io::Blocking, Family::V4),
                group(Io::Epoll, Io::Splice, Family::V6),
                group(Io::Blocking, Io::Sendfile, Family::Mapped),
                group(Io::Ring, Io::Ring, Family::V4),
            ],
        }
    }

    /// One connection.
    pub fn smallest() -> Self {
        Self {
            groups: vec![Group {
                client: Io::Blocking,
                server: Io::Blocking,
                family: Family::V4,
                connections: 1,
                requests: 50,
                large: 0,
                quick: true,
            }],
        }
    }

    /// How many requests that makes.
    pub fn requests(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.connections) * u64::from(group.requests)).sum()
    }

    /// How many connections that makes.
    pub fn connections(&self) -> u32 {
        self.groups.iter().map(|group| group.connections).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plans_are_as_large_as_they_say() {
        assert!(Plan::full().requests() > 200_000);
        assert_eq!(Plan::full().connections(), 64);
        assert_eq!(Plan::short().requests(), 2_000);
        assert_eq!(Plan::short().connections(), 8);
    }
}
