//! Connections that begin while the observer starts: what it sees of them is right, or left out.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::mpsc::{self, Receiver, TryRecvError},
    thread,
    time::Duration,
};

use anyhow::{Result, bail, ensure};
use observer_tests::{observation::Observation, ports::free_ports, process::Programs};

use crate::web::{Nginx, any_skipped};

const ANSWER: &str = "hello";

#[test]
fn connections_that_begin_while_observation_starts_are_recognised() -> Result<()> {
    if any_skipped(&["nginx"]) {
        return Ok(());
    }
    let [port] = free_ports()?;
    let servers = format!("server {{ listen 127.0.0.1:{port}; location / {{ return 200 '{ANSWER}'; }} }}");
    let _nginx = Nginx::start(port, &servers, &[])?;
    let (started, until) = mpsc::channel();
    let opening = thread::spawn(move || begin_connections(port, &until));
    let observation =
        Observation::start(&Programs::beside_tests()?, &["--role", "both", "--port", &port.to_string()])?;
    started.send(())?;
    let Ok(connections) = opening.join() else { bail!("the client panicked") };
    for mut connection in connections? {
        ask(&mut connection)?;
        ask(&mut connection)?;
    }
    let exchanges = observation.finish()?.exchanges()?;
    ensure!(!exchanges.is_empty(), "nothing was measured");
    for exchange in &exchanges {
        ensure!(
            exchange.protocol.as_deref() == Some("http1")
                && exchange.class.as_deref() == Some("GET /")
                && exchange.status.as_deref() == Some("200")
                && exchange.request_bytes == REQUEST.len() as u64,
            "{exchange:?}"
        );
    }
    Ok(())
}

/// Begins a connection every other millisecond, with a request, until the observer observes.
fn begin_connections(port: u16, until: &Receiver<()>) -> Result<Vec<TcpStream>> {
    let mut connections = Vec::new();
    while until.try_recv() == Err(TryRecvError::Empty) {
        let mut connection = TcpStream::connect(("127.0.0.1", port))?;
        ask(&mut connection)?;
        connections.push(connection);
        thread::sleep(Duration::from_millis(2));
    }
    Ok(connections)
}

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n";

/// Asks, and reads the answer.
fn ask(connection: &mut TcpStream) -> Result<()> {
    connection.write_all(REQUEST)?;
    let mut answer = Vec::new();
    let mut part = [0; 1_024];
    while !answer.ends_with(ANSWER.as_bytes()) {
        let length = connection.read(&mut part)?;
        ensure!(length != 0, "the server left");
        answer.extend_from_slice(&part[..length]);
    }
    Ok(())
}
