//! Single commands: their classes, and the errors that answer them.

use anyhow::{Context as _, Result, ensure};
use observer_tests::{observation::Observation, process::Programs, recording::by_connection, skip::skipped};

use super::{Redis, command};
use crate::{
    talk::Client,
    told::{Told, check},
};

#[test]
fn redis_commands_and_errors() -> Result<()> {
    if skipped("redis") {
        return Ok(());
    }
    let redis = Redis::start()?;
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &redis.port.to_string()])?;
    let mut clients = Vec::new();
    for talk in [strings, transactions, third_version, lines] {
        let mut client = Client::connect(redis.port)?;
        clients.push((client.connection, talk(&mut client)?));
    }
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut seen = by_connection(recording.exchanges()?);
    for (connection, told) in clients {
        check("redis", &told, &seen.remove(&connection).context("a connection was not recorded")?)?;
    }
    ensure!(seen.is_empty(), "connections that nobody made: {seen:#?}");
    Ok(())
}

fn strings(client: &mut Client) -> Result<Vec<Told>> {
    let large = "v".repeat(100_000);
    Ok(vec![
        Told::fine("SET", client.ask(&command(&["SET", "a", "1"]), b"+OK\r\n")?),
        Told::fine("GET", client.ask(&command(&["get", "a"]), b"$1\r\n1\r\n")?),
        Told::fine("GET", client.ask(&command(&["GET", "nothing"]), b"$-1\r\n")?),
        Told::fine("INCR", client.ask(&command(&["INCR", "a"]), b":2\r\n")?),
        Told::fine("SET", client.ask(&command(&["SET", "large", &large]), b"+OK\r\n")?),
        Told::fine(
            "GET",
            client.ask(&command(&["GET", "large"]), format!("$100000\r\n{large}\r\n").as_bytes())?,
        ),
        Told::failed(
            "LPUSH",
            "WRONGTYPE",
            client.ask(
                &command(&["LPUSH", "a", "1"]),
                b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
            )?,
        ),
        Told::failed("NOSUCH", "ERR", client.ask_until(&command(&["NOSUCH"]), b"\r\n")?),
        Told::failed("EVALSHA", "NOSCRIPT", client.ask_until(&command(&["EVALSHA", "0", "0"]), b"\r\n")?),
        Told::fine("batch GET", client.ask(&command(&["GET", "a"]).repeat(3), &b"$1\r\n2\r\n".repeat(3))?),
        Told::fine(
            "batch",
            client.ask(&[command(&["GET", "a"]), command(&["INCR", "a"])].concat(), b"$1\r\n2\r\n:3\r\n")?,
        ),
    ])
}

fn transactions(client: &mut Client) -> Result<Vec<Told>> {
    let all = [&["MULTI"][..], &["SET", "c", "1"], &["EXEC"]].map(command).concat();
    Ok(vec![
        Told::fine("MULTI", client.ask(&command(&["MULTI"]), b"+OK\r\n")?),
        Told::fine("QUEUED", client.ask(&command(&["SET", "b", "1"]), b"+QUEUED\r\n")?),
        Told::fine("QUEUED", client.ask(&command(&["INCR", "b"]), b"+QUEUED\r\n")?),
        Told::fine("EXEC", client.ask(&command(&["EXEC"]), b"*2\r\n+OK\r\n:2\r\n")?),
        Told::fine("MULTI", client.ask(&command(&["MULTI"]), b"+OK\r\n")?),
        Told::failed("NOSUCH", "ERR", client.ask_until(&command(&["NOSUCH"]), b"\r\n")?),
        Told::failed("EXEC", "EXECABORT", client.ask_until(&command(&["EXEC"]), b"\r\n")?),
        // As clients send it that know the whole transaction beforehand.
        Told::fine("batch MULTI", client.ask(&all, b"+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n")?),
    ])
}

/// RESP3, whose answers have other types.
fn third_version(client: &mut Client) -> Result<Vec<Told>> {
    Ok(vec![
        Told::fine("HELLO", client.ask_until(&command(&["HELLO", "3"]), b"$7\r\nmodules\r\n*0\r\n")?),
        Told::fine("GET", client.ask(&command(&["GET", "nothing"]), b"_\r\n")?),
        Told::fine("HGETALL", client.ask(&command(&["HGETALL", "nothing"]), b"%0\r\n")?),
        Told::fine("SMEMBERS", client.ask(&command(&["SMEMBERS", "nothing"]), b"~0\r\n")?),
        Told::fine("ZADD", client.ask(&command(&["ZADD", "z", "1.5", "m"]), b":1\r\n")?),
        Told::fine("ZSCORE", client.ask(&command(&["ZSCORE", "z", "m"]), b",1.5\r\n")?),
        Told::failed("GET", "WRONGTYPE", client.ask_until(&command(&["GET", "z"]), b"\r\n")?),
    ])
}

/// Commands as people type them.
fn lines(client: &mut Client) -> Result<Vec<Told>> {
    Ok(vec![
        Told::fine("PING", client.ask(b"PING\r\n", b"+PONG\r\n")?),
        Told::fine("GET", client.ask(b"get nothing\r\n", b"$-1\r\n")?),
        Told::failed("NOSUCH", "ERR", client.ask_until(b"nosuch\r\n", b"\r\n")?),
    ])
}
