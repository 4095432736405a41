//! A server that answers [`wire`](crate::wire) requests and logs when it saw and answered each.

use std::{
    io::{self, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    thread,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Parser;
use observer_common::Timestamp;

use crate::{
    clock::now,
    log::{self, ServerEntry},
    transport::{Io, Transport, cookie},
    wire::{HEADER, PAUSE, Request},
};

/// What the server is told.
#[derive(Clone, Debug, Parser)]
pub struct Arguments {
    /// Where it listens; port 0 takes a free one. The address is printed as the first line.
    #[arg(long)]
    pub listen: SocketAddr,
    /// How many connections it accepts; it ends when all of them are closed.
    #[arg(long)]
    pub connections: usize,
    /// How it does I/O.
    #[arg(long, value_enum, default_value_t = Io::Blocking)]
    pub io: Io,
    /// Where it writes its log.
    #[arg(long)]
    pub log: PathBuf,
}

/// Serves until every connection is closed, then writes the log.
pub fn run(arguments: &Arguments) -> Result<()> {
    let listener =
        TcpListener::bind(arguments.listen).with_context(|| format!("listen on {}", arguments.listen))?;
    let mut output = io::stdout().lock();
    writeln!(output, "{}", listener.local_addr()?)?;
    output.flush()?;
    let mut threads = Vec::new();
    for _ in 0..arguments.connections {
        let (stream, _) = listener.accept()?;
        let io = arguments.io;
        threads.push(thread::spawn(move || serve(stream, io)));
    }
    let mut entries = Vec::new();
    for thread in threads {
        entries.extend(thread.join().map_err(|_| anyhow!("a serving thread panicked"))??);
    }
    log::write(&arguments.log, &entries)
}

/// Serves one connection until the client closes it.
pub fn serve(stream: TcpStream, io: Io) -> Result<Vec<ServerEntry>> {
    let connection = cookie(&stream)?;
    let mut transport = io.open(stream)?;
    let mut entries = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    while let Some((request, first_read)) = receive(transport.as_mut(), &mut buffer)? {
        let last_read = now();
        if !request.delay.is_zero() {
            thread::sleep(request.delay);
        }
        let before_write = now();
        let before_last_write = answer(transport.as_mut(), &request)?;
        entries.push(ServerEntry {
            connection,
            id: request.id,
            first_read,
            last_read,
            before_write,
            before_last_write,
            after_write: now(),
        });
    }
    Ok(entries)
}

/// Receives a whole request, and says when its first byte had been read; nothing at the end of the stream.
fn receive(transport: &mut dyn Transport, buffer: &mut [u8]) -> Result<Option<(Request, Timestamp)>> {
    let mut received = transport.receive(buffer)?;
    let first_read = now();
    if received == 0 {
        return Ok(None);
    }
    while received < HEADER as usize {
        let more = transport.receive(&mut buffer[received..])?;
        ensure!(more > 0, "the client left in the middle of a request");
        received += more;
    }
    let mut header = [0; HEADER as usize];
    header.copy_from_slice(&buffer[..HEADER as usize]);
    let request = Request::decode(&header);
    let mut left = request.request_bytes().saturating_sub(received as u64);
    while left > 0 {
        let more = transport.receive(buffer)?;
        ensure!(more > 0, "the client left in the middle of a request");
        left = left.saturating_sub(more as u64);
    }
    Ok(Some((request, first_read)))
}

/// Answers, and says when the last write began.
fn answer(transport: &mut dyn Transport, request: &Request) -> Result<Timestamp> {
    let body = request.body as usize;
    let part = body.div_ceil(request.parts as usize).max(1);
    let mut before_last_write = now();
    let prefix = request.body.to_be_bytes();
    let mut sent = 0;
    while sent < prefix.len() {
        before_last_write = now();
        sent += transport.send(&prefix[sent..], body > 0 && request.parts == 1)?;
    }
    let mut sent = 0;
    while sent < body {
        if request.parts > 1 && sent % part == 0 {
            thread::sleep(PAUSE);
        }
        let end = ((sent / part + 1) * part).min(body);
        before_last_write = now();
        let more = transport.send_body(end - sent)?;
        ensure!(more > 0, "the body ended early");
        sent += more;
    }
    Ok(before_last_write)
}
