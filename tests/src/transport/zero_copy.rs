//! `sendfile` and `splice`: bodies that never pass through user memory.

use std::{fs::File, io, io::Write as _, net::TcpStream, os::fd::OwnedFd};

use rustix::{
    fs::{MemfdFlags, memfd_create, sendfile},
    pipe::{PipeFlags, SpliceFlags, pipe_with, splice},
};

use super::{BODY, Transport, blocking::Blocking};

/// A file in memory that holds [`BODY`].
fn body_file() -> io::Result<File> {
    let mut file = File::from(memfd_create("body", MemfdFlags::CLOEXEC)?);
    file.write_all(&BODY)?;
    Ok(file)
}

pub(super) struct Sendfile {
    socket: Blocking,
    body: File,
}

impl Sendfile {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        Ok(Self { socket: Blocking::new(stream), body: body_file()? })
    }
}

impl Transport for Sendfile {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.receive(buffer)
    }

    fn send(&mut self, bytes: &[u8], more: bool) -> io::Result<usize> {
        self.socket.send(bytes, more)
    }

    fn send_body(&mut self, length: usize) -> io::Result<usize> {
        let mut offset = 0;
        Ok(sendfile(self.socket.stream(), &self.body, Some(&mut offset), length.min(BODY.len()))?)
    }
}

pub(super) struct Spliced {
    socket: Blocking,
    body: File,
    /// Reading and writing end of the pipe between socket and memory.
    pipe: (OwnedFd, OwnedFd),
}

impl Spliced {
    /// What a pipe holds without asking for more.
    const PIPE_CAPACITY: usize = 1 << 16;

    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        Ok(Self { socket: Blocking::new(stream), body: body_file()?, pipe: pipe_with(PipeFlags::CLOEXEC)? })
    }
}

impl Transport for Spliced {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (reader, writer) = &self.pipe;
        let length = buffer.len().min(Self::PIPE_CAPACITY);
        let received = splice(self.socket.stream(), None, writer, None, length, SpliceFlags::empty())?;
        if received == 0 {
            return Ok(0);
        }
        Ok(rustix::io::read(reader, &mut buffer[..received])?)
    }

    fn send(&mut self, bytes: &[u8], more: bool) -> io::Result<usize> {
        self.socket.send(bytes, more)
    }

    fn send_body(&mut self, length: usize) -> io::Result<usize> {
        let (reader, writer) = &self.pipe;
        let mut offset = 0;
        let length = length.min(Self::PIPE_CAPACITY);
        let taken = splice(&self.body, Some(&mut offset), writer, None, length, SpliceFlags::empty())?;
        let mut left = taken;
        while left > 0 {
            left -= splice(reader, None, self.socket.stream(), None, left, SpliceFlags::empty())?;
        }
        Ok(taken)
    }
}
