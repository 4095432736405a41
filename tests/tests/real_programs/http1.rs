//! What HTTP/1 allows besides one request after another: pipelining, interim responses, chunks, and leaving it.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use anyhow::{Result, bail, ensure};
use observer_tests::{
    observation::{Observation, Recording},
    ports::free_ports,
    process::Programs,
    recording::Observed,
    skip::all,
    span::{Span, nest},
};

use crate::{
    curl::{compare, curl},
    h2load::Load,
    web::{Nginx, any_skipped},
};

/// nginx that answers at once under `/items/`, and under `/upload` once it has received the request.
fn nginx() -> Result<(Nginx, u16)> {
    let [port, behind] = free_ports()?;
    let servers = format!(
        "server {{
            listen 127.0.0.1:{port};
            location /items/ {{ return 200 'hello'; }}
            location /upload {{
                proxy_pass http://127.0.0.1:{behind}/;
                proxy_pass_request_body off; proxy_set_header Content-Length '';
            }}
        }}
        server {{ listen 127.0.0.1:{behind}; location / {{ return 200 'hello'; }} }}"
    );
    Ok((Nginx::start(port, &servers, &[])?, port))
}

fn observe(port: u16) -> Result<Observation> {
    Observation::start(&Programs::beside_tests()?, &["--port", &port.to_string()])
}

/// All exchanges of a recording that leaves nothing out.
fn all_of(recording: &Recording) -> Result<Vec<Observed>> {
    ensure!(recording.lost()? == 0, "exchanges were lost");
    recording.left_out()?.are(&[], 0)?;
    let exchanges = recording.exchanges()?;
    for row in &exchanges {
        ensure!(
            row.outcome == "ok" && row.protocol.as_deref() == Some("http1"),
            "no answered request: {row:?}"
        );
    }
    Ok(exchanges)
}

/// Sends so many requests in one write, and reads all their answers. Returns the bytes of either direction.
fn pipeline(stream: &mut TcpStream, requests: usize) -> Result<(u64, u64)> {
    let text = "GET /items/17 HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(requests);
    stream.write_all(text.as_bytes())?;
    let mut received = Vec::new();
    while received.windows(5).filter(|window| window == b"hello").count() < requests {
        let mut buffer = [0; 16_384];
        let more = stream.read(&mut buffer)?;
        ensure!(more > 0, "nginx left");
        received.extend_from_slice(&buffer[..more]);
    }
    Ok((text.len() as u64, received.len() as u64))
}

#[test]
fn requests_sent_at_once_are_one_exchange() -> Result<()> {
    if any_skipped(&["nginx"]) {
        return Ok(());
    }
    let batches = if all() { 1_000 } else { 100 };
    let (_nginx, port) = nginx()?;
    let observation = observe(port)?;
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    let mut bytes = Vec::new();
    for _ in 0..batches {
        bytes.push(pipeline(&mut stream, 16)?);
    }
    drop(stream);
    let mut exchanges = all_of(&observation.finish()?)?;
    ensure!(exchanges.len() == batches, "{} exchanges for {batches} batches", exchanges.len());
    exchanges.sort_by_key(|row| row.start);
    for (row, (request, response)) in exchanges.iter().zip(bytes) {
        ensure!(
            row.class.as_deref().is_some_and(|text| text.starts_with("batch"))
                && row.request_bytes == request
                && row.response_bytes == response,
            "no batch of {request} and {response} bytes: {row:?}"
        );
    }
    Ok(())
}

/// With four requests under way on each connection, h2load sends the next as soon as there is room: some exchanges
/// are batches, and of others nobody knows. Each that is told lies within what h2load logged, and no byte is told
/// twice.
#[test]
fn pipelining_is_never_timed_wrongly() -> Result<()> {
    if any_skipped(&["nginx", "h2load"]) {
        return Ok(());
    }
    let requests = if all() { 20_000 } else { 4_000 };
    let (_nginx, port) = nginx()?;
    let observation = observe(port)?;
    let load = Load {
        url: format!("http://127.0.0.1:{port}/items/17"),
        requests,
        connections: 4,
        at_once: 4,
        further: &["--h1"],
    };
    let logged = load.run()?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let exchanges = recording.exchanges()?;
    ensure!(exchanges.len() <= requests, "{} exchanges for {requests} requests", exchanges.len());
    let asked: Vec<Span> = logged.iter().map(|logged| logged.span).collect();
    let (batches, single): (Vec<_>, Vec<_>) =
        exchanges.iter().partition(|row| row.class.as_deref().is_some_and(|text| text.starts_with("batch")));
    ensure!(single.iter().all(|row| row.class.as_deref() == Some("GET /items/{n}") && row.status.as_deref() == Some("200")), "another request");
    nest(&single.iter().map(|row| Span::to_last_byte(row)).collect::<Vec<_>>(), &asked)?;
    // The first request of a batch is answered first.
    nest(&batches.iter().map(|row| Span::to_first_byte(row)).collect::<Vec<_>>(), &asked)?;

    // Where an answer comes that nobody waits for, the request that it belongs to was taken for another's.
    let left_out = recording.left_out()?;
    let reasons = ["overlapping", "negative-duration", "push"];
    let uncertain = reasons.iter().map(|reason| left_out.count(reason)).sum();
    left_out.are(&reasons, uncertain)?;
    let size = single.first().map_or(0, |row| row.request_bytes);
    let (sum, sent) = (exchanges.iter().map(|row| row.request_bytes).sum::<u64>(), size * requests as u64);
    ensure!(size == 0 || sum == sent || (sum < sent && uncertain > 0), "{sum} bytes of {sent}");
    Ok(())
}

/// curl waits for `100 Continue` before it sends the body: the answer is what comes then.
#[test]
fn an_interim_response_is_no_answer() -> Result<()> {
    uploaded(&["--header", "Expect: 100-continue"])
}

#[test]
fn a_body_in_chunks() -> Result<()> {
    uploaded(&["--header", "Transfer-Encoding: chunked", "--header", "Expect:"])
}

#[test]
fn a_long_body() -> Result<()> {
    uploaded(&["--header", "Expect:"])
}

fn uploaded(arguments: &[&str]) -> Result<()> {
    const LENGTH: u64 = 150_000;
    if any_skipped(&["nginx", "curl"]) {
        return Ok(());
    }
    let requests = if all() { 300 } else { 50 };
    let (_nginx, port) = nginx()?;
    let directory = tempfile::TempDir::new()?;
    let body = directory.path().join("body");
    std::fs::write(&body, vec![b'b'; usize::try_from(LENGTH)?])?;
    let observation = observe(port)?;
    let (body, url) =
        (format!("@{}", body.display()), format!("http://127.0.0.1:{port}/upload?[1-{requests}]"));
    let transfers = curl(&[&["--http1.1", "--data-binary", &body], arguments, &[&url]].concat())?;
    let exchanges = all_of(&observation.finish()?)?;
    ensure!(transfers.iter().all(|transfer| transfer.status == 200), "curl did not get what it asked for");
    ensure!(exchanges.len() == requests, "{} exchanges for {requests} requests", exchanges.len());
    for row in &exchanges {
        ensure!(
            row.class.as_deref() == Some("POST /upload")
                && row.status.as_deref() == Some("200")
                && row.request_bytes > LENGTH,
            "not what curl asked for: {row:?}"
        );
    }
    compare(&format!("curl {arguments:?}"), &exchanges, &transfers)
}

/// A server that answers requests, then changes to a protocol of which nobody here knows anything.
fn changing(listener: &TcpListener, requests: usize) -> Result<()> {
    let (mut stream, _) = listener.accept()?;
    let mut buffer = [0; 4_096];
    for _ in 0..requests {
        ensure!(stream.read(&mut buffer)? > 0, "the client left");
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
    }
    ensure!(stream.read(&mut buffer)? > 0, "the client left");
    stream.write_all(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    )?;
    loop {
        let received = stream.read(&mut buffer)?;
        if received == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..received])?;
    }
}

#[test]
fn what_follows_an_upgrade_is_counted() -> Result<()> {
    const REQUESTS: usize = 5;
    const FRAMES: usize = 20;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let server = thread::spawn(move || changing(&listener, REQUESTS));
    let observation = observe(port)?;
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    let mut ask = |text: &str| -> Result<()> {
        stream.write_all(text.as_bytes())?;
        ensure!(stream.read(&mut [0; 4_096])? > 0, "the server left");
        Ok(())
    };
    for _ in 0..REQUESTS {
        ask("GET /items/17 HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    }
    ask("GET /chat HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")?;
    for number in 0..FRAMES {
        // No HTTP, whatever is in it.
        ask(if number % 2 == 0 { "\u{1}\u{5}hello" } else { "GET / HTTP/1.1\r\n\r\n" })?;
    }
    drop(stream);
    server.join().unwrap_or_else(|_| bail!("the server's thread panicked"))?;
    let recording = observation.finish()?;
    let exchanges = recording.exchanges()?;
    let asked = exchanges
        .iter()
        .filter(|row| row.protocol.as_deref() == Some("http1") && row.status.as_deref() == Some("200"))
        .count();
    ensure!(asked == REQUESTS, "{asked} exchanges for {REQUESTS} requests");
    // The change itself was asked for and answered.
    ensure!(exchanges.len() == REQUESTS + 1, "{} exchanges", exchanges.len());
    recording.left_out()?.are(&["upgraded"], FRAMES as u64)
}
