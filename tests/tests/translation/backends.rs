//! Servers that remember who asked which of them.

use std::{
    collections::HashMap,
    io::{ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow};
use observer_tests::transport::cookie;

/// What every request and every answer is.
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: backend\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

const PATIENCE: Duration = Duration::from_secs(20);

/// What the backends saw of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    /// The cookie of the backend's socket.
    pub(crate) connection: u64,
    /// The address that was reached.
    pub(crate) backend: SocketAddr,
    /// How many requests came.
    pub(crate) requests: usize,
}

/// Running backends: one listener for all addresses of a namespace.
pub(crate) struct Backends {
    stop: Arc<AtomicBool>,
    /// By the client's address.
    thread: JoinHandle<Result<HashMap<SocketAddr, Served>>>,
}

impl Backends {
    /// Serves whoever connects to `listener`.
    pub(crate) fn serve(listener: TcpListener) -> Result<Self> {
        listener.set_nonblocking(true)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut connections = Vec::new();
            loop {
                match listener.accept() {
                    Ok((stream, client)) => {
                        connections.push((plain(client), thread::spawn(|| serve(stream))));
                    }
                    Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
                    Err(_) if stopped.load(Ordering::Relaxed) => break,
                    Err(_) => thread::sleep(Duration::from_millis(1)),
                }
            }
            connections
                .into_iter()
                .map(|(client, thread)| {
                    Ok((client, thread.join().map_err(|_| anyhow!("a backend's thread panicked"))??))
                })
                .collect()
        });
        Ok(Self { stop, thread })
    }

    /// Waits until all connections have ended, and tells what they were.
    pub(crate) fn stop(self) -> Result<HashMap<SocketAddr, Served>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the backends' thread panicked"))?
    }
}

fn serve(mut stream: TcpStream) -> Result<Served> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut served =
        Served { connection: cookie(&stream)?, backend: plain(stream.local_addr()?), requests: 0 };
    let mut buffer = [0; REQUEST.len()];
    loop {
        match stream.read_exact(&mut buffer) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(served),
            Err(error) => return Err(error).context("read a request"),
        }
        stream.write_all(ANSWER)?;
        served.requests += 1;
    }
}

/// A listener of both families sees callers of IPv4 at addresses of IPv6.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// A connection that has asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Its cookie.
    pub(crate) connection: u64,
    /// The client's own address.
    pub(crate) client: SocketAddr,
    /// What was dialled.
    pub(crate) dialled: SocketAddr,
}

/// Dials, asks so many times, and hangs up.
pub(crate) fn ask(dialled: SocketAddr, requests: usize) -> Result<Asked> {
    let mut stream =
        TcpStream::connect_timeout(&dialled, PATIENCE).with_context(|| format!("dial {dialled}"))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut buffer = [0; ANSWER.len()];
    for _ in 0..requests {
        stream.write_all(REQUEST)?;
        stream.read_exact(&mut buffer)?;
    }
    Ok(Asked { connection: cookie(&stream)?, client: stream.local_addr()?, dialled })
}
