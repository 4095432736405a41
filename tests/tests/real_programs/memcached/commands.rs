//! Single commands, of the text protocol and of the meta protocol, and the errors that answer them.

use anyhow::{Context as _, Result, ensure};
use observer_tests::{observation::Observation, process::Programs, recording::by_connection, skip::skipped};

use super::Memcached;
use crate::{
    talk::Client,
    told::{Told, check},
};

#[test]
fn memcached_commands_and_errors() -> Result<()> {
    if skipped("memcached") {
        return Ok(());
    }
    let memcached = Memcached::start()?;
    let port = memcached.port.to_string();
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &port])?;
    let mut clients = Vec::new();
    for talk in [text, meta] {
        let mut client = Client::connect(memcached.port)?;
        clients.push((client.connection, talk(&mut client)?));
    }
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut seen = by_connection(recording.exchanges()?);
    for (connection, told) in clients {
        check("memcached", &told, &seen.remove(&connection).context("a connection was not recorded")?)?;
    }
    ensure!(seen.is_empty(), "connections that nobody made: {seen:#?}");
    Ok(())
}

fn text(client: &mut Client) -> Result<Vec<Told>> {
    let large = "v".repeat(100_000);
    Ok(vec![
        Told::fine("set", client.ask(b"set a 0 0 1\r\n1\r\n", b"STORED\r\n")?),
        Told::fine("get", client.ask(b"get a\r\n", b"VALUE a 0 1\r\n1\r\nEND\r\n")?),
        Told::fine("get", client.ask(b"get nothing\r\n", b"END\r\n")?),
        Told::fine("add", client.ask(b"add a 0 0 1\r\n2\r\n", b"NOT_STORED\r\n")?),
        Told::fine("incr", client.ask(b"incr a 4\r\n", b"5\r\n")?),
        Told::failed(
            "incr",
            "CLIENT_ERROR",
            client.ask(b"incr a x\r\n", b"CLIENT_ERROR invalid numeric delta argument\r\n")?,
        ),
        Told::fine(
            "set",
            client.ask(format!("set large 0 0 100000\r\n{large}\r\n").as_bytes(), b"STORED\r\n")?,
        ),
        Told::fine(
            "get",
            client.ask(b"get large\r\n", format!("VALUE large 0 100000\r\n{large}\r\nEND\r\n").as_bytes())?,
        ),
        Told::fine("touch", client.ask(b"touch a 100\r\n", b"TOUCHED\r\n")?),
        Told::fine("delete", client.ask(b"delete a\r\n", b"DELETED\r\n")?),
        Told::fine("delete", client.ask(b"delete a\r\n", b"NOT_FOUND\r\n")?),
        Told::fine("version", client.ask_until(b"version\r\n", b"\r\n")?),
        Told::failed("set", "ERROR", client.ask(b"set\r\n", b"ERROR\r\n")?),
        Told::fine("batch get", client.ask(&b"get nothing\r\n".repeat(3), &b"END\r\n".repeat(3))?),
        Told::fine(
            "batch",
            client.ask(b"set a 0 0 1\r\n1\r\nget a\r\n", b"STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n")?,
        ),
    ])
}

fn meta(client: &mut Client) -> Result<Vec<Told>> {
    Ok(vec![
        Told::fine("ms", client.ask(b"ms m 1\r\n1\r\n", b"HD\r\n")?),
        Told::fine("mg", client.ask(b"mg m v\r\n", b"VA 1\r\n1\r\n")?),
        Told::fine("mg", client.ask(b"mg nothing v\r\n", b"EN\r\n")?),
        Told::fine("ma", client.ask(b"ma m\r\n", b"HD\r\n")?),
        // Quiet commands, whose end a command without effect tells.
        Told::fine("batch mg", client.ask(b"mg m v q\r\nmg nothing v q\r\nmn\r\n", b"VA 1\r\n2\r\nMN\r\n")?),
        Told::fine("md", client.ask(b"md m\r\n", b"HD\r\n")?),
        Told::fine("md", client.ask(b"md m\r\n", b"NF\r\n")?),
        Told::fine("mn", client.ask(b"mn\r\n", b"MN\r\n")?),
        Told::fine("ms", client.ask(b"ms m 1\r\nx\r\n", b"HD\r\n")?),
        Told::failed("ma", "CLIENT_ERROR", client.ask_until(b"ma m\r\n", b"\r\n")?),
    ])
}
