//! Non-blocking sockets, waited for with `epoll`.

use std::{io, net::TcpStream, os::fd::OwnedFd};

use rustix::{
    event::{Timespec, epoll},
    io::Errno,
    net::{RecvFlags, SendFlags, recv, send},
};

use super::{PATIENCE, Transport};

pub(super) struct Polled {
    stream: TcpStream,
    poll: OwnedFd,
}

impl Polled {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let interest = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        epoll::add(&poll, &stream, epoll::EventData::new_u64(0), interest)?;
        Ok(Self { stream, poll })
    }

    /// Tries `operation`, and waits for the next edge as long as it would block.
    fn when_ready(&self, mut operation: impl FnMut(&TcpStream) -> Result<usize, Errno>) -> io::Result<usize> {
        let patience = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
        loop {
            match operation(&self.stream) {
                Err(Errno::AGAIN) => {
                    let mut events = [epoll::Event {
                        flags: epoll::EventFlags::empty(),
                        data: epoll::EventData::new_u64(0),
                    }];
                    match epoll::wait(&self.poll, &mut events, Some(&patience)) {
                        Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                other => return Ok(other?),
            }
        }
    }
}

impl Transport for Polled {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.when_ready(|stream| recv(stream, &mut *buffer, RecvFlags::empty()).map(|(received, _)| received))
    }

    fn send(&mut self, bytes: &[u8], more: bool) -> io::Result<usize> {
        let flags = if more { SendFlags::MORE | SendFlags::NOSIGNAL } else { SendFlags::NOSIGNAL };
        self.when_ready(|stream| send(stream, bytes, flags))
    }
}
