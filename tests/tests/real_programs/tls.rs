//! TLS under curl and `openssl s_client`: an exchange for each request, and none for anything else that is encrypted.

use std::{
    io::Write as _,
    process::{ChildStdin, Command, Stdio},
    thread,
};

use anyhow::{Context as _, Result, bail, ensure};
use observer_tests::{
    observation::{Observation, Recording},
    process::{Lines, Programs, Running},
    recording::Observed,
    skip::{all, shared},
};

use crate::{
    curl::{compare, curl},
    server::{PATIENCE, free_port, program, serve},
    web::{Nginx, any_skipped, certificate},
};

/// What can be told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Every record says what it is.
    Classic,
    /// Tickets may be part of the first answer, which is left out, then.
    Modern,
}

impl Version {
    const fn nginx(self) -> &'static str {
        match self {
            Self::Classic => "TLSv1.2",
            Self::Modern => "TLSv1.3",
        }
    }

    const fn openssl(self) -> &'static str {
        match self {
            Self::Classic => "-tls1_2",
            Self::Modern => "-tls1_3",
        }
    }
}

/// nginx that speaks this version only and answers with one line.
fn nginx(port: u16, version: Version, further: &str) -> Result<Nginx> {
    let (certificate, key) = certificate()?;
    let server = format!(
        "server {{
            listen 127.0.0.1:{port} ssl; ssl_protocols {}; ssl_certificate certificate;
            ssl_certificate_key key; {further} location / {{ return 200 \"hello\\n\"; }}
        }}",
        version.nginx()
    );
    Nginx::start(port, &server, &[("certificate", &certificate), ("key", &key)])
}

fn observe(port: u16) -> Result<Observation> {
    Observation::start(&Programs::beside_tests()?, &["--port", &port.to_string()])
}

/// The exchanges: one for each request, but for the first of a connection where tickets may hide it. Every handshake
/// is counted, and nothing else is.
fn told_apart(
    recording: &Recording,
    version: Version,
    connections: usize,
    requests: usize,
) -> Result<Vec<Observed>> {
    let first_turns = if version == Version::Modern { connections } else { 0 };
    all_but(recording, first_turns, connections, requests)
}

/// The same, but for so many turns that are left out.
fn all_but(
    recording: &Recording,
    doubtful: usize,
    connections: usize,
    requests: usize,
) -> Result<Vec<Observed>> {
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let exchanges = recording.exchanges()?;
    ensure!(
        exchanges.len() <= requests && exchanges.len() + doubtful >= requests,
        "{} exchanges for {requests} requests on {connections} connections",
        exchanges.len()
    );
    let hidden = (requests - exchanges.len()) as u64;
    let left_out = recording.left_out()?;
    ensure!(
        shared() || left_out.count("handshake") == connections as u64,
        "{left_out:?} with {connections} handshakes"
    );
    // Tickets that came before the first turn are not waited for; those that come while its request is under way may
    // make it overlap.
    left_out
        .without("push", doubtful.min(connections) as u64)
        .are(&["handshake", "tls", "overlapping"], connections as u64 + hidden)?;
    for row in &exchanges {
        ensure!(
            row.outcome == "ok" && row.protocol.as_deref() == Some("tls"),
            "no answered request: {row:?}"
        );
    }
    Ok(exchanges)
}

#[test]
fn modern_under_curl() -> Result<()> {
    under_curl(Version::Modern, "")
}

#[test]
fn modern_without_sessions_under_curl() -> Result<()> {
    under_curl(Version::Modern, "ssl_session_cache off; ssl_session_tickets off;")
}

#[test]
fn classic_under_curl() -> Result<()> {
    under_curl(Version::Classic, "")
}

/// Several clients at once, each with many requests on its connection.
fn under_curl(version: Version, further: &str) -> Result<()> {
    if any_skipped(&["nginx", "curl", "openssl"]) {
        return Ok(());
    }
    let (clients, requests) = (4, if all() { 1_000 } else { 200 });
    let port = free_port()?;
    let _nginx = nginx(port, version, further)?;
    let observation = observe(port)?;
    let url = format!("https://127.0.0.1:{port}/items/[1-{requests}]");
    let transfers = thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(|| curl(&["--http1.1", &url]))).collect();
        let mut transfers = Vec::new();
        for client in clients {
            transfers.extend(client.join().unwrap_or_else(|_| bail!("a client's thread panicked"))?);
        }
        anyhow::Ok(transfers)
    })?;
    let recording = observation.finish()?;
    ensure!(transfers.iter().all(|transfer| transfer.status == 200), "curl did not get what it asked for");
    let exchanges = told_apart(&recording, version, clients, transfers.len())?;
    compare(&format!("curl, {}", version.nginx()), &exchanges, &transfers)
}

/// A client that offers HTTP/2 may interleave its streams where nobody can see them.
#[test]
fn http2_is_left_out() -> Result<()> {
    if any_skipped(&["nginx", "curl", "openssl"]) {
        return Ok(());
    }
    let port = free_port()?;
    let _nginx = nginx(port, Version::Modern, "")?;
    let observation = observe(port)?;
    let transfers = curl(&["--http2", &format!("https://127.0.0.1:{port}/items/[1-50]")])?;
    let recording = observation.finish()?;
    let exchanges = recording.exchanges()?;
    ensure!(transfers.len() == 50 && exchanges.is_empty(), "{} exchanges", exchanges.len());
    // What the handshake counts is one more.
    recording.left_out()?.are(&["overlapping", "tls", "handshake"], 50 + 1)
}

/// An `openssl s_client` whose every line is written once the last one was answered.
struct Dialogue {
    client: Running,
    input: ChildStdin,
    output: Lines,
    errors: Lines,
}

impl Dialogue {
    fn start(port: u16, arguments: &[&str]) -> Result<Self> {
        let mut client = Running::start(
            Command::new(program("openssl")?)
                .args(["s_client", "-connect", &format!("127.0.0.1:{port}")])
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped()),
        )?;
        let child = client.child();
        let input = child.stdin.take().context("standard input is piped")?;
        let output = Lines::of(child.stdout.take().context("standard output is piped")?);
        let errors = Lines::of(child.stderr.take().context("standard error is piped")?);
        Ok(Self { client, input, output, errors })
    }

    /// Says something, and waits for a line that is the answer.
    fn ask(&mut self, text: &str, answer: &str) -> Result<()> {
        self.input.write_all(text.as_bytes())?;
        wait_for(&mut self.output, answer)
    }

    /// Gives a command of one letter, and waits until it is carried out.
    fn command(&mut self, letter: char, answer: &str) -> Result<()> {
        self.input.write_all(format!("{letter}\n").as_bytes())?;
        wait_for(&mut self.errors, answer)
    }

    /// Says that it closes the connection, and does.
    fn close(mut self) -> Result<()> {
        self.input.write_all(b"Q\n")?;
        self.client.wait(PATIENCE)?;
        Ok(())
    }
}

fn wait_for(lines: &mut Lines, answer: &str) -> Result<()> {
    while !lines.next(PATIENCE)?.contains(answer) {}
    Ok(())
}

const GET: &str = "GET /items/17 HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Several requests, with key updates of both kinds behind some, and an alert at the end. The turn behind a key update
/// is left out: that may have been its beginning.
#[test]
fn key_updates_are_no_requests() -> Result<()> {
    if any_skipped(&["nginx", "openssl"]) {
        return Ok(());
    }
    let updates = 6;
    let requests = 2 * updates + 1;
    let port = free_port()?;
    let _nginx = nginx(port, Version::Modern, "")?;
    let observation = observe(port)?;
    let mut dialogue = Dialogue::start(port, &[Version::Modern.openssl()])?;
    for number in 0..requests {
        dialogue.ask(GET, "hello")?;
        // One that wants an answer, which is a key update, too, and one that does not.
        match number % 4 {
            1 => dialogue.command('K', "KEYUPDATE")?,
            3 => dialogue.command('k', "KEYUPDATE")?,
            _ => {}
        }
    }
    dialogue.close()?;
    all_but(&observation.finish()?, 1 + updates, 1, requests).map(drop)
}

#[test]
fn classic_under_s_client() -> Result<()> {
    under_s_client(Version::Classic, &[], &[])
}

#[test]
fn classic_without_tickets_under_s_client() -> Result<()> {
    under_s_client(Version::Classic, &["-no_ticket"], &["-no_ticket"])
}

#[test]
fn modern_with_many_tickets_under_s_client() -> Result<()> {
    under_s_client(Version::Modern, &["-num_tickets", "8"], &[])
}

#[test]
fn modern_without_tickets_under_s_client() -> Result<()> {
    under_s_client(Version::Modern, &["-num_tickets", "0"], &[])
}

/// A server of openssl's that sends each line back to front, and a client on each of a few connections.
fn under_s_client(version: Version, server: &[&str], client: &[&str]) -> Result<()> {
    if any_skipped(&["openssl"]) {
        return Ok(());
    }
    let (connections, requests) = (3, 10);
    let directory = tempfile::TempDir::new()?;
    let (certificate, key) = certificate()?;
    std::fs::write(directory.path().join("certificate"), certificate)?;
    std::fs::write(directory.path().join("key"), key)?;
    let port = free_port()?;
    let _server = serve(
        Command::new(program("openssl")?)
            .args(["s_server", "-rev", "-accept", &format!("127.0.0.1:{port}"), version.openssl()])
            .args(["-cert", "certificate", "-key", "key"])
            .args(server)
            .current_dir(directory.path()),
        port,
    )?;
    let observation = observe(port)?;
    for _ in 0..connections {
        let mut dialogue = Dialogue::start(port, &[&[version.openssl()], client].concat())?;
        for _ in 0..requests {
            dialogue.ask("drawer\n", "reward")?;
        }
        dialogue.close()?;
    }
    told_apart(&observation.finish()?, version, connections, connections * requests).map(drop)
}

/// Connections without a request: a handshake each, and nothing more.
#[test]
fn handshakes_alone() -> Result<()> {
    if any_skipped(&["nginx", "openssl"]) {
        return Ok(());
    }
    for version in [Version::Classic, Version::Modern] {
        let port = free_port()?;
        let _nginx = nginx(port, version, "")?;
        let observation = observe(port)?;
        for _ in 0..3 {
            let dialogue = Dialogue::start(port, &[version.openssl()])?;
            dialogue.close()?;
        }
        told_apart(&observation.finish()?, version, 3, 0)?;
    }
    Ok(())
}
