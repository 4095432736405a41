//! Where replicas, forwarders and the store listen.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
};

use super::error::LabError;

/// The most replicas there are addresses for.
pub(crate) const MOST_REPLICAS: usize = 100;

/// The last number of a block's first address.
const FIRST: u8 = 11;
/// How many ports are tried before one is free everywhere.
const PORTS_TRIED: usize = 16;

/// Addresses of the loopback network that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) enum Block {
    /// What clients dial: `127.0.0.11` and on.
    Instances,
    /// Replicas behind forwarders: `127.0.1.11` and on.
    Behind,
    /// The store: `127.0.2.11`.
    Store,
}

impl Block {
    fn address(self, index: u8) -> Ipv4Addr {
        let third = match self {
            Self::Instances => 0,
            Self::Behind => 1,
            Self::Store => 2,
        };
        Ipv4Addr::new(127, 0, third, index)
    }
}

/// `count` listening sockets on addresses of their own, all with the same port, as real replicas have.
pub(super) fn listen(block: Block, count: usize) -> Result<Vec<(SocketAddr, TcpListener)>, LabError> {
    if count > MOST_REPLICAS {
        return Err(LabError::TooManyReplicas { wanted: count, most: MOST_REPLICAS });
    }
    for _ in 0..PORTS_TRIED {
        let mut listeners = Vec::new();
        let mut port = 0;
        for index in (FIRST..).take(count) {
            let address = SocketAddr::from((block.address(index), port));
            match TcpListener::bind(address).and_then(|listener| Ok((listener.local_addr()?, listener))) {
                Ok((address, listener)) => {
                    port = address.port();
                    listeners.push((address, listener));
                }
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => break,
                Err(source) => return Err(LabError::Loopback { address, source }),
            }
        }
        if listeners.len() == count {
            return Ok(listeners);
        }
    }
    Err(LabError::NoPort { first: SocketAddr::from((block.address(FIRST), 0)) })
}

/// One listening socket, on whichever port is free.
pub(super) fn listen_once(block: Block) -> Result<(SocketAddr, TcpListener), LabError> {
    let address = SocketAddr::from((block.address(FIRST), 0));
    TcpListener::bind(address)
        .and_then(|listener| Ok((listener.local_addr()?, listener)))
        .map_err(|source| LabError::Loopback { address, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_share_a_port_and_no_address() {
        let listeners = listen(Block::Instances, 3).unwrap();
        let ports: Vec<_> = listeners.iter().map(|(address, _)| address.port()).collect();
        assert_eq!(ports, [ports[0]; 3]);
        let addresses: Vec<_> = listeners.iter().map(|(address, _)| address.ip().to_string()).collect();
        assert_eq!(addresses, ["127.0.0.11", "127.0.0.12", "127.0.0.13"]);
    }

    #[test]
    fn there_are_only_so_many_addresses() {
        assert_eq!(listen(Block::Instances, MOST_REPLICAS).unwrap().len(), MOST_REPLICAS);
        let error = listen(Block::Instances, MOST_REPLICAS + 1).unwrap_err();
        assert!(matches!(error, LabError::TooManyReplicas { wanted: 101, most: 100 }));
    }
}
