//! The ways in which a program can do network I/O: all of them have to look the same to the observer.

mod blocking;
mod epoll;
mod ring;
mod zero_copy;

use std::{io, net::TcpStream, os::fd::AsFd as _, time::Duration};

use clap::ValueEnum;

/// A way to do network I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Io {
    /// Blocking sockets: `recv` and `send`.
    Blocking,
    /// Non-blocking sockets, waited for with `epoll`.
    Epoll,
    /// `io_uring`.
    Ring,
    /// Bodies are sent with `sendfile`.
    Sendfile,
    /// Bodies are sent, and everything is received, with `splice` through a pipe.
    Splice,
}

impl Io {
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Epoll => "epoll",
            Self::Ring => "ring",
            Self::Sendfile => "sendfile",
            Self::Splice => "splice",
        }
    }

    /// Does I/O this way on a connection.
    pub fn open(self, stream: TcpStream) -> io::Result<Box<dyn Transport>> {
        stream.set_nodelay(true)?;
        // Nothing in a test may wait for ever.
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(match self {
            Self::Blocking => Box::new(blocking::Blocking::new(stream)),
            Self::Epoll => Box::new(epoll::Polled::new(stream)?),
            Self::Ring => Box::new(ring::Ring::new(stream)?),
            Self::Sendfile => Box::new(zero_copy::Sendfile::new(stream)?),
            Self::Splice => Box::new(zero_copy::Spliced::new(stream)?),
        })
    }
}

/// How long one read or write may take before the connection is given up.
const PATIENCE: Duration = Duration::from_mins(1);

/// A connection with its way to do I/O.
pub trait Transport {
    /// Receives some bytes; 0 at the end of the stream.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Sends some of `bytes`. `more` says that further bytes follow at once.
    fn send(&mut self, bytes: &[u8], more: bool) -> io::Result<usize>;

    /// Sends up to `length` bytes of a body.
    fn send_body(&mut self, length: usize) -> io::Result<usize> {
        self.send(&BODY[..length.min(BODY.len())], false)
    }
}

/// What bodies consist of.
static BODY: [u8; 1 << 18] = [b'.'; 1 << 18];

/// The cookie of a socket: how the observer's column `connection` names it.
pub fn cookie(stream: &TcpStream) -> io::Result<u64> {
    Ok(rustix::net::sockopt::socket_cookie(stream.as_fd())?)
}
