//! Blocking sockets.

use std::{io, net::TcpStream};

use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::Transport;

pub(super) struct Blocking {
    stream: TcpStream,
}

impl Blocking {
    pub(super) const fn new(stream: TcpStream) -> Self {
        Self { stream }
    }

    pub(super) const fn stream(&self) -> &TcpStream {
        &self.stream
    }
}

impl Transport for Blocking {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(recv(&self.stream, buffer, RecvFlags::empty())?.0)
    }

    fn send(&mut self, bytes: &[u8], more: bool) -> io::Result<usize> {
        let flags = if more { SendFlags::MORE | SendFlags::NOSIGNAL } else { SendFlags::NOSIGNAL };
        Ok(send(&self.stream, bytes, flags)?)
    }
}
