//! Blocking sockets.

use std::{io, net::TcpStream};

use rustix::{
    io::retry_on_intr,
    net::{RecvFlags, SendFlags, recv, send},
};

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
        // A process that is stopped and goes on is interrupted where it waits with a limit.
        let received = retry_on_intr(|| recv(&self.stream, &mut *buffer, RecvFlags::empty()));
        Ok(received?.0)
    }

    fn send(&mut self, bytes: &[u8], more: bool) -> io::Result<usize> {
        let flags = if more { SendFlags::MORE | SendFlags::NOSIGNAL } else { SendFlags::NOSIGNAL };
        Ok(retry_on_intr(|| send(&self.stream, bytes, flags))?)
    }
}
