//! Requests and responses of all sizes: every one is an exchange, or counted.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use observer_tests::{
    observation::Observation, process::Programs, recording::by_connection, say::say, skip::all,
    transport::cookie,
};

use crate::support::{CONNECTIONS, PATIENCE, pin, processors};

/// What comes before a request's payload: its whole length, and its response's.
const HEADER: usize = 8;

/// Lengths that fit into one segment, need several, or fill the socket's buffers; no two neighbours are alike.
const REQUESTS: [usize; 5] = [8, 100, 1_500, 20_000, 150_000];
const RESPONSES: [usize; 7] = [1, 200, 50_000, 9, 3_000, 200_000, 40];

/// The lengths of one connection's requests and responses.
fn lengths(connection: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = if all() { 5_000 } else { 300 };
    (connection..connection + count)
        .map(|number| (REQUESTS[number % REQUESTS.len()], RESPONSES[number % RESPONSES.len()]))
}

/// Both sockets of every connection tell each exchange, exact to the byte. One whose two timestamps, taken on two
/// processors before the lock, are in the wrong order, is counted instead; and so many are missing, no more, no less.
#[test]
fn every_request_is_an_exchange_or_counted() -> Result<()> {
    let observation = Observation::start(&Programs::beside_tests()?, &["--role", "both"])?;
    let connections = traffic()?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let counted = recording.unpaired("negative-duration")? + recording.unpaired("overlapping")?;
    let mut seen = by_connection(recording.exchanges()?);
    let (mut requests, mut missing) = (0, 0);
    for (index, sockets) in connections.iter().enumerate() {
        for socket in sockets {
            let rows = seen.remove(socket).context("a connection was not recorded at all")?;
            ensure!(rows.iter().all(|row| row.outcome == "ok"), "a request without an answer");
            let mut rows = rows.iter().map(|row| (row.request_bytes, row.response_bytes)).peekable();
            for (request, response) in lengths(index) {
                requests += 1;
                if rows.next_if_eq(&(request as u64, response as u64)).is_none() {
                    missing += 1;
                }
            }
            ensure!(rows.next().is_none(), "an exchange that is none of the client's requests");
        }
    }
    say(&format!("two cores: {requests} requests, {missing} of them not told, {counted} counted"));
    ensure!(missing == counted, "{missing} requests are missing, and {counted} are counted");
    Ok(())
}

/// The cookies of both ends of every connection, once all is said.
fn traffic() -> Result<Vec<[u64; 2]>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (first, last) = processors()?;
    let (mut cookies, mut threads) = (Vec::new(), Vec::new());
    for index in 0..CONNECTIONS {
        let client = TcpStream::connect(listener.local_addr()?)?;
        let (server, _) = listener.accept()?;
        for end in [&client, &server] {
            end.set_nodelay(true)?;
            end.set_read_timeout(Some(PATIENCE))?;
            end.set_write_timeout(Some(PATIENCE))?;
        }
        cookies.push([cookie(&client)?, cookie(&server)?]);
        threads.push(thread::spawn(move || pin(first).and_then(|()| ask(client, index))));
        threads.push(thread::spawn(move || pin(last).and_then(|()| serve(server))));
    }
    for thread in threads {
        thread.join().map_err(|_| anyhow!("a connection's thread panicked"))??;
    }
    Ok(cookies)
}

fn ask(mut stream: TcpStream, index: usize) -> Result<()> {
    let mut buffer = vec![b'.'; 200_000];
    for (request, response) in lengths(index) {
        buffer[..4].copy_from_slice(&u32::try_from(request)?.to_be_bytes());
        buffer[4..HEADER].copy_from_slice(&u32::try_from(response)?.to_be_bytes());
        stream.write_all(&buffer[..request])?;
        stream.read_exact(&mut buffer[..response])?;
    }
    Ok(())
}

fn serve(mut stream: TcpStream) -> Result<()> {
    let mut buffer = vec![b'.'; 200_000];
    loop {
        match stream.read_exact(&mut buffer[..HEADER]) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let mut lengths = [0; 2];
        for (length, bytes) in lengths.iter_mut().zip(buffer.chunks_exact(4)) {
            *length = u32::from_be_bytes(bytes.try_into()?) as usize;
        }
        stream.read_exact(&mut buffer[HEADER..lengths[0]])?;
        stream.write_all(&buffer[..lengths[1]])?;
    }
}
