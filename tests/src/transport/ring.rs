//! `io_uring`, one ring a connection.

use std::{
    io,
    net::TcpStream,
    os::fd::{AsRawFd as _, RawFd},
};

use io_uring::{IoUring, opcode, squeue, types::Fd};

use super::Transport;

pub(super) struct Ring {
    stream: TcpStream,
    ring: IoUring,
}

impl Ring {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        Ok(Self { stream, ring: IoUring::new(2)? })
    }

    fn socket(&self) -> Fd {
        let descriptor: RawFd = self.stream.as_raw_fd();
        Fd(descriptor)
    }

    /// Submits one operation and waits until it is complete.
    fn run(&mut self, operation: &squeue::Entry) -> io::Result<usize> {
        #[expect(unsafe_code, reason = "the queue cannot know how long the operation's buffer lives")]
        // SAFETY: the buffer outlives the operation, which is complete when this function returns: it gives up
        // only where nothing was submitted.
        let pushed = unsafe { self.ring.submission().push(operation) };
        pushed.map_err(io::Error::other)?;
        loop {
            match self.ring.submit_and_wait(1) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(_) => {}
            }
            if let Some(completion) = self.ring.completion().next() {
                let result = completion.result();
                return usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
            }
        }
    }
}

impl Transport for Ring {
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        let operation = opcode::Recv::new(self.socket(), buffer.as_mut_ptr(), length).build();
        self.run(&operation)
    }

    fn send(&mut self, bytes: &[u8], more: bool) -> io::Result<usize> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let flags = if more { libc::MSG_MORE | libc::MSG_NOSIGNAL } else { libc::MSG_NOSIGNAL };
        let operation = opcode::Send::new(self.socket(), bytes.as_ptr(), length).flags(flags).build();
        self.run(&operation)
    }
}
