//! Events and entries of the kernel's connection tracking.

use std::{
    io::{self, ErrorKind},
    os::fd::{AsFd, BorrowedFd},
};

use netlink_packet_netfilter::{
    NetfilterHeader, NetfilterMessage, NetfilterProtoFamily, conntrack::ConntrackMessage,
};
use rustix::io::Errno;

use super::{Change, Translation, decode};
use crate::identity::netlink::{Netlink, messages};

/// The multicast groups of new and of forgotten entries, as bits (`NF_NETLINK_CONNTRACK_NEW`, `_DESTROY`).
const GROUPS: u32 = 0b001 | 0b100;

/// Room for events between two polls. The kernel doubles it and books 1,280 bytes for an event: on 6.18, 13,107
/// new connections fitted.
const RECEIVE_BUFFER_BYTES: usize = 8 * 1024 * 1024;

/// A subscription to connection tracking in the network namespace where it was made.
///
/// Subscribing and dumping need `CAP_NET_ADMIN`; polling needs nothing.
#[derive(Debug)]
pub struct Conntrack {
    netlink: Netlink,
    overruns: u64,
    unreadable: u64,
}

/// Why connection tracking cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConntrackError {
    /// The socket or its groups are refused.
    #[error(
        "cannot subscribe to connection tracking: {0}; connections that are translated in another network \
         namespace stay behind their virtual address; run with CAP_NET_ADMIN"
    )]
    Subscribe(#[source] io::Error),
    /// The existing entries cannot be listed.
    #[error(
        "cannot list the tracked connections: {0}; those older than this program stay behind their virtual \
         address; run with CAP_NET_ADMIN on a kernel with nf_conntrack_netlink"
    )]
    Dump(#[source] io::Error),
    /// Events can no longer be read.
    #[error(
        "cannot read events of connection tracking: {0}; new connections stay behind their virtual address; \
         restart the observation"
    )]
    Poll(#[source] io::Error),
}

impl Conntrack {
    /// Subscribes to new and forgotten entries.
    pub fn subscribe() -> Result<Self, ConntrackError> {
        let netlink =
            Netlink::open(rustix::net::netlink::NETFILTER, GROUPS).map_err(ConntrackError::Subscribe)?;
        netlink.set_receive_buffer(RECEIVE_BUFFER_BYTES).map_err(ConntrackError::Subscribe)?;
        Ok(Self { netlink, overruns: 0, unreadable: 0 })
    }

    /// Hands on every translated connection that is tracked already. Call it after [`subscribe`](Self::subscribe),
    /// so that none is missed between the two.
    pub fn dump(seen: impl FnMut(Translation)) -> Result<(), ConntrackError> {
        Self::dump_all(seen).map_err(ConntrackError::Dump)
    }

    fn dump_all(mut seen: impl FnMut(Translation)) -> io::Result<()> {
        // Events would come between the answers: a dump has a socket of its own.
        let mut netlink = Netlink::open(rustix::net::netlink::NETFILTER, 0)?;
        let header = NetfilterHeader::new(NetfilterProtoFamily::Unspec, 0, 0);
        let request = NetfilterMessage::new(header, ConntrackMessage::Get(Vec::new()));
        netlink.dump(request, |answer| {
            if let Some(Change::New(translation)) = decode::change(&answer) {
                seen(translation);
            }
        })
    }

    /// Hands on every event that is there, without waiting for more.
    pub fn poll(&mut self, mut seen: impl FnMut(Change)) -> Result<(), ConntrackError> {
        loop {
            let datagram = match self.netlink.event() {
                Ok(datagram) => datagram,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // The kernel says once that it had no room; what it did keep comes next.
                Err(error) if error.raw_os_error() == Some(Errno::NOBUFS.raw_os_error()) => {
                    self.overruns += 1;
                    continue;
                }
                Err(error) => return Err(ConntrackError::Poll(error)),
            };
            for message in messages::<NetfilterMessage>(datagram) {
                match message {
                    Ok(message) => {
                        if let netlink_packet_core::NetlinkPayload::InnerMessage(inner) = message.payload {
                            decode::change(&inner).into_iter().for_each(&mut seen);
                        }
                    }
                    Err(_) => self.unreadable += 1,
                }
            }
        }
    }

    /// How often the kernel had to drop events, an unknown number each time.
    pub fn overruns(&self) -> u64 {
        self.overruns
    }

    /// How many events could not be understood.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }
}

impl AsFd for Conntrack {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.netlink.as_fd()
    }
}
