//! A netlink socket: dumps that are asked for, and events that come by themselves (RFC 3549).

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use netlink_packet_core::{
    DecodeError, NLM_F_DUMP, NLM_F_REQUEST, NetlinkBuffer, NetlinkDeserializable, NetlinkHeader,
    NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, netlink::SocketAddrNetlink,
    sockopt,
};

/// The largest datagram that the kernel builds for a dump is 32 KiB.
const BUFFER_BYTES: usize = 64 * 1024;

/// The kernel answers at once; a dump that stalls this long never ends.
const PATIENCE: Duration = Duration::from_secs(5);

/// Messages lie on multiples of this many bytes (`NLMSG_ALIGNTO`).
const ALIGNMENT: usize = 4;

/// An open socket. Namespaces are its maker's: it stays in the one where it was opened.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl Netlink {
    /// Opens a socket that hears the multicast groups whose bits are set in `groups`.
    pub(super) fn open(protocol: Protocol, groups: u32) -> io::Result<Self> {
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(protocol),
        )?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, groups))?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE))?;
        Ok(Self { socket, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Makes room for bursts of events: beyond the system's limit where that is permitted, else up to it.
    pub(super) fn set_receive_buffer(&self, bytes: usize) -> io::Result<()> {
        sockopt::set_socket_recv_buffer_size_force(&self.socket, bytes)
            .or_else(|_| sockopt::set_socket_recv_buffer_size(&self.socket, bytes))
            .map_err(io::Error::from)
    }

    /// Asks for everything that `request` describes, and hands each answer to `seen`.
    pub(super) fn dump<M>(&mut self, request: M, mut seen: impl FnMut(M)) -> io::Result<()>
    where
        M: NetlinkSerializable + NetlinkDeserializable,
    {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(request));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        rustix::net::sendto(&self.socket, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        loop {
            let datagram = self.receive(RecvFlags::empty())?;
            for message in messages::<M>(datagram) {
                match message.map_err(io::Error::other)?.payload {
                    NetlinkPayload::InnerMessage(answer) => seen(answer),
                    NetlinkPayload::Done(done) if done.code < 0 => {
                        return Err(io::Error::from_raw_os_error(-done.code));
                    }
                    NetlinkPayload::Done(_) => return Ok(()),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    _ => {}
                }
            }
        }
    }

    /// The next event that is already there, or `WouldBlock`.
    pub(super) fn event(&mut self) -> io::Result<&[u8]> {
        self.receive(RecvFlags::DONTWAIT)
    }

    fn receive(&mut self, flags: RecvFlags) -> io::Result<&[u8]> {
        loop {
            // What another process sent is no word of the kernel.
            let (_, length, sender) = rustix::net::recvfrom(&self.socket, &mut self.buffer[..], flags)?;
            let sender = sender.and_then(|any| SocketAddrNetlink::try_from(any).ok());
            if sender.is_some_and(|sender| sender.pid() == 0) {
                return Ok(self.buffer.get(..length).unwrap_or_default());
            }
        }
    }
}

impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The messages of a datagram. Nothing follows one that cannot be understood.
pub(super) fn messages<M: NetlinkDeserializable>(
    datagram: &[u8],
) -> impl Iterator<Item = Result<NetlinkMessage<M>, DecodeError>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let message = NetlinkMessage::deserialize(rest);
        let length = NetlinkBuffer::new_checked(rest).map_or(rest.len(), |buffer| buffer.length() as usize);
        rest = rest.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
        if message.is_err() {
            rest = &[];
        }
        Some(message)
    })
}
