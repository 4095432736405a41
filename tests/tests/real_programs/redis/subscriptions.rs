//! Messages that come unasked: pushes, of which nobody can say how long they took.

use anyhow::{Context as _, Result, ensure};
use observer_tests::{
    observation::Observation,
    process::Programs,
    recording::{Observed, by_connection},
    skip::{all, skipped},
};

use super::{Redis, command};
use crate::{
    talk::Client,
    told::{Told, check},
};

#[test]
fn redis_subscriptions_are_pushes() -> Result<()> {
    if skipped("redis") {
        return Ok(());
    }
    let redis = Redis::start()?;
    let observation = Observation::start(&Programs::beside_tests()?, &["--port", &redis.port.to_string()])?;
    let messages = if all() { 5_000 } else { 500 };
    let (mut publisher, mut second, mut third) =
        (Client::connect(redis.port)?, Client::connect(redis.port)?, Client::connect(redis.port)?);

    let hello = third.ask_until(&command(&["HELLO", "3"]), b"$7\r\nmodules\r\n*0\r\n")?;
    second.ask(&command(&["SUBSCRIBE", "news"]), b"*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n")?;
    third.ask(&command(&["SUBSCRIBE", "news"]), b">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n")?;
    let mut told = Vec::new();
    for _ in 0..messages {
        told.push(Told::fine("PUBLISH", publisher.ask(&command(&["PUBLISH", "news", "told"]), b":2\r\n")?));
        second.hear(b"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$4\r\ntold\r\n")?;
        third.hear(b">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$4\r\ntold\r\n")?;
    }
    second.ask(&command(&["UNSUBSCRIBE"]), b"*3\r\n$11\r\nunsubscribe\r\n$4\r\nnews\r\n:0\r\n")?;
    let ping = second.ask(&command(&["PING"]), b"+PONG\r\n")?;
    let connections = [&publisher, &second, &third].map(|client| client.connection);
    drop((publisher, second, third));

    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut seen = by_connection(recording.exchanges()?);
    let [publisher, second, third] = connections;
    let mut rows = |connection| -> Result<Vec<Observed>> {
        seen.remove(&connection).context("a connection was not recorded")
    };
    check("redis", &told, &rows(publisher)?)?;
    // Before and after a subscription a connection's exchanges are ordinary ones.
    check("redis", &[Told::fine("PING", ping)], &rows(second)?)?;
    check("redis", &[Told::fine("HELLO", hello)], &rows(third)?)?;
    // Two turns that began a subscription, with all messages as their answers, and one that ended it.
    let pushes = recording.unpaired("push")?;
    ensure!(pushes == 3, "{pushes} pushes");
    Ok(())
}
