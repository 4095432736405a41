//! A client that sends [`wire`](crate::wire) requests, one at a time on each connection, and logs when it sent
//! each and when the answer was there.

use std::{
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    sync::{Arc, Barrier},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Parser;

use crate::{
    clock::now,
    log::{self, ClientEntry},
    transport::{Io, Transport, cookie},
    wire::Request,
};

/// What the client is told.
#[derive(Clone, Debug, Parser)]
pub struct Arguments {
    /// Where the server listens.
    #[arg(long)]
    pub connect: SocketAddr,
    /// How many connections it opens.
    #[arg(long)]
    pub connections: u32,
    /// How many requests it sends on each.
    #[arg(long)]
    pub requests: u32,
    /// How many of those ask for a large response.
    #[arg(long, default_value_t = 0)]
    pub large: u32,
    /// Sends only requests for small, immediate responses.
    #[arg(long)]
    pub quick: bool,
    /// How long a connection rests between its requests, in microseconds.
    #[arg(long, default_value_t = 0)]
    pub rest_us: u64,
    /// How it does I/O.
    #[arg(long, value_enum, default_value_t = Io::Blocking)]
    pub io: Io,
    /// Where it writes its log.
    #[arg(long)]
    pub log: PathBuf,
}

/// Opens all connections, sends all requests, then writes the log.
pub fn run(arguments: &Arguments) -> Result<()> {
    let barrier = Arc::new(Barrier::new(arguments.connections as usize));
    let mut threads = Vec::new();
    for index in 0..arguments.connections {
        let stream = TcpStream::connect(arguments.connect)
            .with_context(|| format!("connect to {}", arguments.connect))?;
        let (arguments, barrier) = (arguments.clone(), Arc::clone(&barrier));
        threads.push(thread::spawn(move || {
            barrier.wait();
            converse(stream, index, &arguments)
        }));
    }
    let mut entries = Vec::new();
    for thread in threads {
        entries.extend(thread.join().map_err(|_| anyhow!("an asking thread panicked"))??);
    }
    log::write(&arguments.log, &entries)
}

fn converse(stream: TcpStream, index: u32, arguments: &Arguments) -> Result<Vec<ClientEntry>> {
    let connection = cookie(&stream)?;
    let mut transport = arguments.io.open(stream)?;
    let mut entries = Vec::with_capacity(arguments.requests as usize);
    let mut buffer = vec![0; 1 << 16];
    for number in 0..arguments.requests {
        let id = u64::from(index) << 32 | u64::from(number);
        let request = if arguments.quick {
            Request::new(id, number % 100)
        } else {
            Request::of_mixture(id, number, arguments.requests, arguments.large)
        };
        entries.push(ask(transport.as_mut(), connection, &request, &mut buffer)?);
        if arguments.rest_us > 0 {
            thread::sleep(Duration::from_micros(arguments.rest_us));
        }
    }
    Ok(entries)
}

/// Sends one request and receives its response.
pub fn ask(
    transport: &mut dyn Transport,
    connection: u64,
    request: &Request,
    buffer: &mut [u8],
) -> Result<ClientEntry> {
    let mut bytes = Vec::with_capacity(64);
    request.encode(&mut bytes);
    let before_write = now();
    let mut sent = 0;
    while sent < bytes.len() {
        sent += transport.send(&bytes[sent..], false)?;
    }
    let mut received = transport.receive(buffer)? as u64;
    let first_read = now();
    let mut last_read = first_read;
    ensure!(received > 0, "the server left before it answered");
    while received < request.response_bytes() {
        let more = transport.receive(buffer)? as u64;
        last_read = now();
        ensure!(more > 0, "the server left in the middle of a response");
        received += more;
    }
    ensure!(received == request.response_bytes(), "the response to {} is too long", request.id);
    Ok(ClientEntry {
        connection,
        id: request.id,
        before_write,
        first_read,
        last_read,
        request_bytes: request.request_bytes(),
        response_bytes: received,
    })
}
