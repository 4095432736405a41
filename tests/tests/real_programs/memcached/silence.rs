//! Commands that ask not to be answered.

use std::{thread, time::Duration};

use anyhow::{Context as _, Result, ensure};
use observer_tests::{observation::Observation, process::Programs, recording::by_connection, skip::skipped};

use super::Memcached;
use crate::{
    talk::Client,
    told::{Told, check},
};

const STORED: &[u8] = b"VALUE a 0 1\r\n2\r\nEND\r\n";

/// How many times each is said.
const TIMES: u64 = 5;

/// How long a client waits after a command that is not answered: no latency of anything.
const PAUSE: Duration = Duration::from_millis(20);

#[test]
fn memcached_last_words_have_no_answer() -> Result<()> {
    if skipped("memcached") {
        return Ok(());
    }
    let memcached = Memcached::start()?;
    let port = memcached.port.to_string();
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &port])?;
    let mut clients = Vec::new();
    for _ in 0..TIMES {
        let mut client = Client::connect(memcached.port)?;
        let told = Told::fine("set", client.ask(b"set a 0 0 1\r\n1\r\n", b"STORED\r\n")?);
        client.say(b"set a 0 0 1 noreply\r\n2\r\n")?;
        clients.push((client.connection, told));
    }
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut rows = by_connection(recording.exchanges()?);
    for (connection, told) in clients {
        check("memcached", &[told], &rows.remove(&connection).context("a connection was not recorded")?)?;
    }
    let silent = recording.unpaired("unanswered")?;
    ensure!(silent == TIMES, "{silent} commands without an answer");
    Ok(())
}

/// A command without an answer is no beginning of the next one.
#[test]
fn memcached_commands_without_an_answer() -> Result<()> {
    if skipped("memcached") {
        return Ok(());
    }
    let memcached = Memcached::start()?;
    let port = memcached.port.to_string();
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &port])?;
    let mut client = Client::connect(memcached.port)?;
    let told = vec![Told::fine("set", client.ask(b"set a 0 0 1\r\n1\r\n", b"STORED\r\n")?)];
    for _ in 0..TIMES {
        client.say(b"set a 0 0 1 noreply\r\n2\r\n")?;
        thread::sleep(PAUSE);
        // By direction it is one request with the command before it, whose beginning says nothing about this one.
        client.ask(b"get a\r\n", STORED)?;
    }
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut rows = by_connection(recording.exchanges()?);
    check("memcached", &told, &rows.remove(&client.connection).context("the connection was not recorded")?)?;
    let silent = recording.unpaired("unanswered")?;
    ensure!(silent == TIMES, "{silent} commands without an answer");
    Ok(())
}
