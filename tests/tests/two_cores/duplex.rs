//! Both ends write as fast as they can, whatever the other one does.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use observer_tests::{
    observation::Observation,
    process::Programs,
    recording::{Observed, by_connection},
    say::say,
    skip::all,
    transport::cookie,
};

use crate::support::{CONNECTIONS, PATIENCE, pin, processors};

/// How many writes each side does.
fn writes() -> usize {
    if all() { 20_000 } else { 2_000 }
}

/// One connection's two sockets and how much each of them sent.
struct Duplex {
    client: u64,
    server: u64,
    asked: u64,
    answered: u64,
}

/// On loopback a segment is processed by the processor of its sender, for both sockets. Clients write on one
/// processor and servers on another, all the time: each connection's two directions run at once. Every byte must
/// be found again: a lost update of the connection's state would lose some.
#[test]
fn every_byte_of_full_duplex_traffic_is_counted() -> Result<()> {
    let observation = Observation::start(&Programs::beside_tests()?, &["--role", "both"])?;
    let connections = traffic()?;
    let recording = observation.finish()?;
    let counted = recording.unpaired("negative-duration")? + recording.unpaired("overlapping")?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let exchanges = by_connection(recording.exchanges()?);
    let (mut exact, mut total) = (0, 0);
    for connection in &connections {
        for socket in [connection.client, connection.server] {
            let rows = exchanges.get(&socket).context("a connection was not recorded at all")?;
            let sum = |bytes: fn(&Observed) -> u64| rows.iter().map(bytes).sum::<u64>();
            let (asked, answered) = (sum(|row| row.request_bytes), sum(|row| row.response_bytes));
            ensure!(asked <= connection.asked && answered <= connection.answered, "bytes were invented");
            total += 1;
            exact += u64::from((asked, answered) == (connection.asked, connection.answered));
        }
    }
    say(&format!(
        "two cores: {exact} of {total} sockets exact to the byte, {counted} turns counted as overlapping or negative"
    ));
    // A turn whose answer left before its request had arrived, or whose two timestamps, taken on two processors
    // before the lock, are in the wrong order, is counted instead of recorded; it costs its socket the exactness,
    // and nothing else may.
    ensure!(total - exact <= counted, "{} sockets lost bytes without a reason", total - exact);
    Ok(())
}

fn traffic() -> Result<Vec<Duplex>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (first, last) = processors()?;
    let mut threads = Vec::new();
    for _ in 0..CONNECTIONS {
        let client = TcpStream::connect(listener.local_addr()?)?;
        let (server, _) = listener.accept()?;
        threads.push(thread::spawn(move || duplex(&client, &server, first, last)));
    }
    threads
        .into_iter()
        .map(|thread| thread.join().map_err(|_| anyhow!("a connection's thread panicked"))?)
        .collect()
}

fn duplex(client: &TcpStream, server: &TcpStream, first: usize, last: usize) -> Result<Duplex> {
    for end in [client, server] {
        end.set_nodelay(true)?;
        end.set_read_timeout(Some(PATIENCE))?;
        end.set_write_timeout(Some(PATIENCE))?;
    }
    let (asked, answered) = thread::scope(|scope| {
        let asking = scope.spawn(move || send(client, first));
        // The first byte comes from the client: that makes it the one who asks.
        let answering = scope.spawn(move || {
            let mut byte = [0];
            server.peek(&mut byte)?;
            send(server, last)
        });
        let reading = scope.spawn(move || receive(client, first));
        let received = receive(server, last)?;
        let join = |thread: thread::ScopedJoinHandle<'_, Result<u64>>| {
            thread.join().map_err(|_| anyhow!("a direction's thread panicked"))?
        };
        let (asked, answered) = (join(asking)?, join(answering)?);
        ensure!((received, join(reading)?) == (asked, answered), "TCP itself lost bytes");
        Ok((asked, answered))
    })?;
    Ok(Duplex { client: cookie(client)?, server: cookie(server)?, asked, answered })
}

/// Writes as fast as it goes, on one processor.
fn send(mut stream: &TcpStream, processor: usize) -> Result<u64> {
    pin(processor)?;
    let bytes = [b'.'; 1_000];
    let mut sent = 0;
    for index in 0..writes() {
        let length = 1 + index % bytes.len();
        stream.write_all(&bytes[..length])?;
        sent += length as u64;
    }
    stream.shutdown(Shutdown::Write)?;
    Ok(sent)
}

fn receive(mut stream: &TcpStream, processor: usize) -> Result<u64> {
    pin(processor)?;
    let mut buffer = [0; 16_384];
    let mut received = 0;
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(received),
            length => received += length as u64,
        }
    }
}
