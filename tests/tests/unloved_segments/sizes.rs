//! Segments larger than any wire would carry, and windows of no size at all.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    thread,
    time::Duration,
};

use anyhow::{Result, anyhow, ensure};
use observer_tests::{
    conversation::converse,
    network::{Direction, Pair, narrow, plain, rules},
    transport::cookie,
    wire::Request,
};

use crate::support::{nests, observed, of, probes};

/// More than all socket buffers along the way hold.
const FLOOD: usize = 8_000_000;

/// How long a side reads nothing: zero-window probes begin after some 200 ms.
const SILENCE: Duration = Duration::from_millis(1_500);

#[test]
fn offloaded_segments_count_their_bytes() -> Result<()> {
    let (logs, exchanges) = observed(|| {
        let pair = Pair::veth()?;
        let mut requests = Vec::new();
        for id in 0..8 {
            let mut request = Request::new(id, 3_000_000);
            request.padding = 2_000_000;
            requests.push(request);
        }
        converse(&pair, &requests, Duration::ZERO)
    })?;
    nests("segmentation offload", &logs, &exchanges)
}

/// Writes `length` bytes and gives the socket back: closing it is a step of its own.
fn flood(mut stream: TcpStream, length: usize) -> Result<TcpStream> {
    stream.write_all(&vec![b'.'; length])?;
    Ok(stream)
}

fn drain(stream: &mut TcpStream, length: usize) -> Result<()> {
    let mut buffer = vec![0; 1 << 16];
    let mut left = length;
    while left > 0 {
        let received = stream.read(&mut buffer)?;
        ensure!(received > 0, "the stream ended early");
        left -= received.min(left);
    }
    Ok(())
}

#[test]
fn a_server_that_does_not_read_makes_the_client_probe() -> Result<()> {
    let ((cookies, journal), exchanges) = observed(|| {
        let mut pair = Pair::forwarded(rules::pass)?;
        let listener = pair.listen(narrow)?;
        let client = pair.connect(listener.local_addr()?, plain)?;
        let (mut server, _) = listener.accept()?;
        let cookies = (cookie(&client)?, cookie(&server)?);
        let flooding = thread::spawn(move || flood(client, FLOOD));
        thread::sleep(SILENCE);
        drain(&mut server, FLOOD)?;
        server.write_all(b"thank you")?;
        let mut client = flooding.join().map_err(|_| anyhow!("the flooding thread panicked"))??;
        drain(&mut client, 9)?;
        Ok((cookies, pair.journal()?))
    })?;
    ensure!(probes(&journal, Direction::ToServer) > 0, "the client never probed");
    for cookie in [cookies.0, cookies.1] {
        let rows = of(&exchanges, cookie);
        ensure!(rows.len() == 1 && rows[0].outcome == "ok", "{rows:?}");
        ensure!((rows[0].request_bytes, rows[0].response_bytes) == (FLOOD as u64, 9), "{rows:?}");
    }
    Ok(())
}

#[test]
fn a_client_that_does_not_read_makes_the_server_probe() -> Result<()> {
    let ((cookies, journal), exchanges) = observed(|| {
        let mut pair = Pair::forwarded(rules::pass)?;
        let listener = pair.listen(plain)?;
        let mut client = pair.connect(listener.local_addr()?, narrow)?;
        let (mut server, _) = listener.accept()?;
        let cookies = (cookie(&client)?, cookie(&server)?);
        client.write_all(b"much please")?;
        drain(&mut server, 11)?;
        let flooding = thread::spawn(move || flood(server, FLOOD));
        thread::sleep(SILENCE);
        drain(&mut client, FLOOD)?;
        // Only now may the server's socket go.
        drop(flooding.join().map_err(|_| anyhow!("the flooding thread panicked"))??);
        Ok((cookies, pair.journal()?))
    })?;
    ensure!(probes(&journal, Direction::ToClient) > 0, "the server never probed");
    for cookie in [cookies.0, cookies.1] {
        let rows = of(&exchanges, cookie);
        ensure!(rows.len() == 1 && rows[0].outcome == "ok", "{rows:?}");
        ensure!((rows[0].request_bytes, rows[0].response_bytes) == (11, FLOOD as u64), "{rows:?}");
    }
    Ok(())
}
