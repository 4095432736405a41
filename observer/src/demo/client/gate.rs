//! A client that does not read: its process goes on, but what arrives stays in the sockets.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use rustix::net::sockopt::socket_cookie;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// Whether the client reads.
#[derive(Debug, Default)]
pub(super) struct Gate(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_shut: bool,
    waiting: Vec<Waker>,
}

impl Gate {
    /// From now on nothing is read, as long as the result lives.
    pub(super) fn shut(&self) -> Shut<'_> {
        self.set(true);
        Shut(self)
    }

    fn set(&self, is_shut: bool) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_shut = is_shut;
        if !is_shut {
            state.waiting.drain(..).for_each(Waker::wake);
        }
    }

    fn poll_open(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_shut {
            state.waiting.push(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

/// A gate that is shut.
pub(super) struct Shut<'a>(&'a Gate);

impl Drop for Shut<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// A connection behind a gate. It writes at any time.
#[derive(Debug)]
pub(super) struct Gated {
    stream: TcpStream,
    gate: Arc<Gate>,
}

/// What tells a connection from others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    /// The client's own address.
    pub(super) client: SocketAddr,
    /// The socket's cookie, by which the probes know it.
    pub(super) cookie: u64,
}

impl Gated {
    /// Connects to a replica.
    pub(super) async fn connect(address: SocketAddr, gate: &Arc<Gate>) -> io::Result<(Self, Ends)> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let ends = Ends { client: stream.local_addr()?, cookie: socket_cookie(&stream)? };
        Ok((Self { stream, gate: Arc::clone(gate) }, ends))
    }
}

impl AsyncRead for Gated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        std::task::ready!(self.gate.poll_open(context));
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Gated {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
        time::timeout,
    };

    use super::*;

    #[tokio::test]
    async fn behind_a_shut_gate_everything_is_written_and_nothing_read() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let gate = Arc::new(Gate::default());
        let (mut near, _) = Gated::connect(listener.local_addr().unwrap(), &gate).await.unwrap();
        let (mut far, _) = listener.accept().await.unwrap();

        let shut = gate.shut();
        far.write_all(b"answer").await.unwrap();
        assert!(timeout(Duration::from_millis(50), near.read_u8()).await.is_err());
        near.write_all(b"ask").await.unwrap();
        assert_eq!(far.read_u8().await.unwrap(), b'a');
        drop(shut);
        assert_eq!(near.read_u8().await.unwrap(), b'a');
    }
}
