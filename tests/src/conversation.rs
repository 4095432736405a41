//! Conversations between the two ends of one connection, in the test's own process.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::fd::OwnedFd,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use observer_common::Timestamp;

use crate::{
    clock::now,
    log::{ClientEntry, ServerEntry},
    logging_client::ask,
    logging_server::serve,
    nesting::Logs,
    network::{Pair, plain},
    transport::{Io, cookie},
    wire::Request,
};

/// How long a read may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends requests one after another over one connection, with a rest after each, and logs both sides.
pub fn converse(pair: &Pair, requests: &[Request], rest: Duration) -> Result<Logs> {
    let listener = pair.listen(plain)?;
    let stream = pair.connect(listener.local_addr()?, plain)?;
    let (accepted, _) = listener.accept()?;
    let server = thread::spawn(move || serve(accepted, Io::Blocking));
    let connection = cookie(&stream)?;
    let mut transport = Io::Blocking.open(stream)?;
    let mut buffer = vec![0; 1 << 16];
    let client: Result<Vec<ClientEntry>> = requests
        .iter()
        .map(|request| {
            let entry = ask(transport.as_mut(), connection, request, &mut buffer);
            thread::sleep(rest);
            entry
        })
        .collect();
    drop(transport);
    let server = server.join().map_err(|_| anyhow!("the serving thread panicked"))?;
    Ok(Logs { client: client?, server: server? })
}

/// Both ends of one connection, moved step by step by one thread: messages have to fit into socket buffers.
#[derive(Debug)]
pub struct Ends {
    /// The client's end.
    pub client: TcpStream,
    /// The server's end.
    pub server: TcpStream,
    /// What both have logged.
    pub logs: Logs,
}

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    before_write: Timestamp,
    first_read: Timestamp,
    last_read: Timestamp,
    length: usize,
}

impl Ends {
    /// Opens a connection.
    pub fn open(pair: &Pair) -> Result<Self> {
        let listener = pair.listen(plain)?;
        let client = pair.connect(listener.local_addr()?, plain)?;
        Self::accept(&listener, client)
    }

    /// Opens a connection whose first request may travel with the handshake: the server only accepts afterwards.
    pub fn open_with_request(
        pair: &Pair,
        prepare_listener: impl Fn(&OwnedFd) -> Result<()> + Sync,
        prepare_client: impl Fn(&OwnedFd) -> Result<()> + Sync,
        length: usize,
    ) -> Result<(Self, Asked)> {
        let listener = pair.listen(prepare_listener)?;
        let mut client = pair.connect(listener.local_addr()?, prepare_client)?;
        let before_write = now();
        client.write_all(&vec![b'q'; length])?;
        let mut ends = Self::accept(&listener, client)?;
        let (first_read, last_read) = receive(&mut ends.server, length)?;
        Ok((ends, Asked { before_write, first_read, last_read, length }))
    }

    fn accept(listener: &TcpListener, client: TcpStream) -> Result<Self> {
        let (server, _) = listener.accept()?;
        server.set_nodelay(true)?;
        for end in [&client, &server] {
            end.set_read_timeout(Some(PATIENCE))?;
            end.set_write_timeout(Some(PATIENCE))?;
        }
        Ok(Self { client, server, logs: Logs::default() })
    }

    /// The client asks, and the server reads all of it.
    pub fn request(&mut self, length: usize) -> Result<Asked> {
        let before_write = now();
        self.client.write_all(&vec![b'q'; length])?;
        let (first_read, last_read) = receive(&mut self.server, length)?;
        Ok(Asked { before_write, first_read, last_read, length })
    }

    /// The server answers, and the client reads all of it.
    pub fn respond(&mut self, asked: Asked, length: usize) -> Result<()> {
        let before_write = now();
        self.server.write_all(&vec![b'a'; length])?;
        let after_write = now();
        let (first_read, last_read) = receive(&mut self.client, length)?;
        let id = self.logs.client.len() as u64;
        self.logs.client.push(ClientEntry {
            connection: cookie(&self.client)?,
            id,
            before_write: asked.before_write,
            first_read,
            last_read,
            request_bytes: asked.length as u64,
            response_bytes: length as u64,
        });
        self.logs.server.push(ServerEntry {
            connection: cookie(&self.server)?,
            id,
            first_read: asked.first_read,
            last_read: asked.last_read,
            before_write,
            before_last_write: before_write,
            after_write,
        });
        Ok(())
    }

    /// The client asks and the server answers.
    pub fn exchange(&mut self) -> Result<()> {
        let asked = self.request(100)?;
        self.respond(asked, 200)
    }

    /// The cookies of both ends.
    pub fn cookies(&self) -> Result<(u64, u64)> {
        Ok((cookie(&self.client)?, cookie(&self.server)?))
    }
}

/// Reads exactly `length` bytes; says when the first and when the last had been read.
fn receive(stream: &mut TcpStream, length: usize) -> Result<(Timestamp, Timestamp)> {
    let mut buffer = vec![0; length];
    let mut received = stream.read(&mut buffer).context("read the first byte")?;
    let first = now();
    let mut last = first;
    while received < length {
        let more = stream.read(&mut buffer[received..])?;
        last = now();
        ensure!(more > 0, "the other side left in the middle of a message");
        received += more;
    }
    Ok((first, last))
}
