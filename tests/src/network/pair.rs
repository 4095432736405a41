//! A client's and a server's namespace with a link in between.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::OwnedFd,
    sync::atomic::{AtomicU8, Ordering},
};

use anyhow::{Context as _, Result};
use rustix::net::{AddressFamily, SocketType, ipproto, sockopt};

use super::{Forwarder, Namespace, Packet, Passed, Verdict, tun};

/// Two namespaces, linked.
#[derive(Debug)]
pub struct Pair {
    forwarder: Option<Forwarder>,
    /// Where clients live.
    pub client: Namespace,
    /// Where servers live.
    pub server: Namespace,
    addresses: Addresses,
}

/// A network of its own, so that no two pairs' connections look alike to an observer of the whole host.
#[derive(Clone, Copy, Debug)]
struct Addresses {
    network: u8,
}

impl Addresses {
    fn next() -> Self {
        static COUNT: AtomicU8 = AtomicU8::new(0);
        let [own, ..] = std::process::id().to_le_bytes();
        Self { network: COUNT.fetch_add(1, Ordering::Relaxed).wrapping_add(own) }
    }

    const fn client(self) -> Ipv4Addr {
        Ipv4Addr::new(10, 99, self.network, 1)
    }

    const fn server(self) -> Ipv4Addr {
        Ipv4Addr::new(10, 99, self.network, 2)
    }
}

impl Pair {
    /// Links the namespaces by a veth pair: packets as large as segmentation offload makes them.
    pub fn veth() -> Result<Self> {
        let (client, server) = (Namespace::new()?, Namespace::new()?);
        client.ip(&format!("link add wire type veth peer name wire netns {}", server.name()))?;
        let addresses = Addresses::next();
        for (namespace, address) in [(&client, addresses.client()), (&server, addresses.server())] {
            namespace.ip(&format!("addr add {address}/24 dev wire"))?;
            namespace.ip("link set wire up")?;
        }
        Ok(Self { forwarder: None, client, server, addresses })
    }

    /// Links the namespaces by a forwarder that follows `rule`.
    pub fn forwarded(rule: impl FnMut(&Packet) -> Verdict + Send + 'static) -> Result<Self> {
        let (client, server) = (Namespace::new()?, Namespace::new()?);
        let addresses = Addresses::next();
        let devices = (tun::open(&client, addresses.client())?, tun::open(&server, addresses.server())?);
        let forwarder = Forwarder::start(devices.0, devices.1, rule)?;
        Ok(Self { forwarder: Some(forwarder), client, server, addresses })
    }

    /// Stops the forwarder and returns what has passed it.
    pub fn journal(&mut self) -> Result<Vec<Passed>> {
        self.forwarder.take().context("the pair is linked by a forwarder")?.stop()
    }

    /// A listening socket in the server's namespace, once `prepare` has set its options.
    pub fn listen(&self, prepare: impl Fn(&OwnedFd) -> Result<()> + Sync) -> Result<TcpListener> {
        self.server.run(|| {
            let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::TCP))?;
            prepare(&socket)?;
            rustix::net::bind(&socket, &SocketAddr::from((self.addresses.server(), 0)))?;
            rustix::net::listen(&socket, 64)?;
            prepare(&socket)?;
            Ok(TcpListener::from(socket))
        })?
    }

    /// Connects from the client's namespace, once `prepare` has set the socket's options.
    pub fn connect(
        &self,
        address: SocketAddr,
        prepare: impl Fn(&OwnedFd) -> Result<()> + Sync,
    ) -> Result<TcpStream> {
        self.client.run(|| {
            let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::TCP))?;
            prepare(&socket)?;
            rustix::net::connect(&socket, &address).with_context(|| format!("connect to {address}"))?;
            let stream = TcpStream::from(socket);
            stream.set_nodelay(true)?;
            Ok(stream)
        })?
    }
}

/// Leaves a socket as it is.
///
/// # Errors
///
/// None.
pub fn plain(_: &OwnedFd) -> Result<()> {
    Ok(())
}

/// Gives a socket a small receive buffer, which is full soon.
pub fn narrow(socket: &OwnedFd) -> Result<()> {
    Ok(sockopt::set_socket_recv_buffer_size(socket, 1 << 16)?)
}

/// Sets an option of the TCP layer that rustix does not know.
pub fn set_tcp_option(socket: &OwnedFd, option: libc::c_int, value: libc::c_int) -> Result<()> {
    use std::os::fd::AsRawFd as _;
    let length = libc::socklen_t::try_from(size_of::<libc::c_int>())?;
    #[expect(unsafe_code, reason = "rustix has no call for this option")]
    // SAFETY: the option's value lives until the call returns, and its length is given.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, (&raw const value).cast(), length)
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()).context("set a TCP option") }
}
