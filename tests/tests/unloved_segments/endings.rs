//! FIN, RST, half-close: with and without an answer.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{Shutdown, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Result, ensure};
use observer_tests::{
    conversation::Ends,
    network::{Direction, Packet, Pair, Passed, Verdict, rules},
    recording::Observed,
};
use rustix::net::sockopt::{set_socket_linger, set_tcp_user_timeout};

use crate::support::{nests, observed, outcomes};

/// What both roles recorded of one connection, after `script` has driven it over a forwarder.
struct Story {
    ends: (u64, u64),
    exchanges: Vec<Observed>,
    journal: Vec<Passed>,
    logs: observer_tests::nesting::Logs,
}

impl Story {
    fn of(
        script: impl FnOnce(&mut Ends) -> Result<()>,
        finish: impl FnOnce(Ends) -> Result<()>,
    ) -> Result<Self> {
        let ((ends, journal, logs), exchanges) = observed(|| {
            let mut pair = Pair::forwarded(rules::pass)?;
            let mut ends = Ends::open(&pair)?;
            script(&mut ends)?;
            let cookies = ends.cookies()?;
            let logs = std::mem::take(&mut ends.logs);
            finish(ends)?;
            settle();
            Ok((cookies, pair.journal()?, logs))
        })?;
        Ok(Self { ends, exchanges, journal, logs })
    }

    fn client(&self) -> Vec<String> {
        outcomes(&self.exchanges, self.ends.0)
    }

    fn server(&self) -> Vec<String> {
        outcomes(&self.exchanges, self.ends.1)
    }
}

/// Lets the last segments reach the other end: nobody reads them.
fn settle() {
    std::thread::sleep(Duration::from_millis(100));
}

/// Closes with RST.
fn abort(stream: TcpStream) -> Result<()> {
    set_socket_linger(&stream, Some(Duration::ZERO))?;
    drop(stream);
    Ok(())
}

/// Waits until the other side's RST has arrived, so that this side does not close before.
fn read_reset(stream: &mut TcpStream) -> Result<()> {
    let end = stream.read(&mut [0; 16]);
    ensure!(end.as_ref().is_err_and(|error| error.kind() == ErrorKind::ConnectionReset), "no reset: {end:?}");
    Ok(())
}

fn read_end(stream: &mut TcpStream) -> Result<()> {
    ensure!(stream.read(&mut [0; 16])? == 0, "more than the end arrived");
    Ok(())
}

#[test]
fn the_server_closes_after_the_answer() -> Result<()> {
    let story = Story::of(Ends::exchange, |mut ends| {
        drop(ends.server);
        read_end(&mut ends.client)
    })?;
    ensure!(story.journal.iter().any(|passed| passed.packet.is_fin()), "no FIN was sent");
    nests("server closes", &story.logs, &story.exchanges)
}

#[test]
fn the_client_closes_after_the_answer() -> Result<()> {
    let story = Story::of(Ends::exchange, |mut ends| {
        drop(ends.client);
        read_end(&mut ends.server)
    })?;
    nests("client closes", &story.logs, &story.exchanges)
}

#[test]
fn the_server_closes_instead_of_answering() -> Result<()> {
    let story = Story::of(
        |ends| ends.request(100).map(drop),
        |mut ends| {
            drop(ends.server);
            read_end(&mut ends.client)
        },
    )?;
    ensure!(story.client() == ["reset"], "the client's side: {:?}", story.client());
    ensure!(story.server() == ["cancelled"], "the server's side: {:?}", story.server());
    Ok(())
}

#[test]
fn the_client_closes_instead_of_waiting() -> Result<()> {
    let story = Story::of(
        |ends| ends.request(100).map(drop),
        |mut ends| {
            drop(ends.client);
            read_end(&mut ends.server)
        },
    )?;
    ensure!(story.client() == ["cancelled"], "the client's side: {:?}", story.client());
    ensure!(story.server() == ["reset"], "the server's side: {:?}", story.server());
    Ok(())
}

#[test]
fn the_server_resets_instead_of_answering() -> Result<()> {
    let story = Story::of(
        |ends| ends.request(100).map(drop),
        |mut ends| {
            abort(ends.server)?;
            read_reset(&mut ends.client)
        },
    )?;
    ensure!(story.journal.iter().any(|passed| passed.packet.is_rst()), "no RST was sent");
    ensure!(story.client() == ["reset"], "the client's side: {:?}", story.client());
    ensure!(story.server() == ["cancelled"], "the server's side: {:?}", story.server());
    Ok(())
}

#[test]
fn the_client_resets_instead_of_waiting() -> Result<()> {
    let story = Story::of(
        |ends| ends.request(100).map(drop),
        |mut ends| {
            abort(ends.client)?;
            read_reset(&mut ends.server)
        },
    )?;
    ensure!(story.client() == ["cancelled"], "the client's side: {:?}", story.client());
    ensure!(story.server() == ["reset"], "the server's side: {:?}", story.server());
    Ok(())
}

#[test]
fn a_reset_after_the_answer_takes_nothing_away() -> Result<()> {
    let by_server = Story::of(Ends::exchange, |ends| abort(ends.server))?;
    nests("server resets", &by_server.logs, &by_server.exchanges)?;
    let by_client = Story::of(Ends::exchange, |ends| abort(ends.client))?;
    nests("client resets", &by_client.logs, &by_client.exchanges)
}

#[test]
fn a_half_closed_client_gets_its_answer() -> Result<()> {
    let story = Story::of(
        |ends| {
            let asked = ends.request(100)?;
            ends.client.shutdown(Shutdown::Write)?;
            read_end(&mut ends.server)?;
            ends.respond(asked, 200)
        },
        |ends| {
            drop(ends);
            Ok(())
        },
    )?;
    nests("half-close", &story.logs, &story.exchanges)
}

#[test]
fn a_farewell_that_comes_again_changes_nothing() -> Result<()> {
    // The FIN of a half-closed client is lost twice and sent again, while the server takes its time.
    let mut lost = 0;
    let rule = move |packet: &Packet| {
        if packet.is_fin() && packet.direction == Direction::ToServer && lost < 2 {
            lost += 1;
            return Verdict::Drop;
        }
        Verdict::Pass
    };
    let ((logs, journal), exchanges) = observed(|| {
        let mut pair = Pair::forwarded(rule)?;
        let mut ends = Ends::open(&pair)?;
        let asked = ends.request(100)?;
        ends.client.shutdown(Shutdown::Write)?;
        read_end(&mut ends.server)?;
        ends.respond(asked, 200)?;
        let logs = std::mem::take(&mut ends.logs);
        drop(ends);
        settle();
        Ok((logs, pair.journal()?))
    })?;
    let farewells = journal
        .iter()
        .filter(|passed| passed.packet.is_fin() && passed.packet.direction == Direction::ToServer);
    ensure!(farewells.count() >= 3, "the FIN was not sent again");
    nests("FIN again", &logs, &exchanges)
}

#[test]
fn a_response_to_nobody_is_no_answer() -> Result<()> {
    // The client has closed for good; its host answers the late response with RST.
    let story = Story::of(
        |ends| ends.request(100).map(drop),
        |mut ends| {
            drop(ends.client);
            read_end(&mut ends.server)?;
            ends.server.write_all(b"too late")?;
            settle();
            Ok(())
        },
    )?;
    ensure!(story.client() == ["cancelled"], "the client's side: {:?}", story.client());
    ensure!(story.server() == ["reset"], "the server's side: {:?}", story.server());
    Ok(())
}

#[test]
fn tcp_gives_up_on_a_request_that_nobody_acknowledges() -> Result<()> {
    let cut = Arc::new(AtomicBool::new(false));
    let rule = {
        let cut = Arc::clone(&cut);
        move |_: &Packet| if cut.load(Ordering::Relaxed) { Verdict::Drop } else { Verdict::Pass }
    };
    let ((cookies, journal), exchanges) = observed(|| {
        let mut pair = Pair::forwarded(rule)?;
        let mut ends = Ends::open(&pair)?;
        ends.exchange()?;
        set_tcp_user_timeout(&ends.client, 1_500)?;
        cut.store(true, Ordering::Relaxed);
        ends.client.write_all(b"anybody there?")?;
        let waited = ends.client.read(&mut [0; 16]);
        ensure!(waited.is_err_and(|error| error.kind() == ErrorKind::TimedOut), "TCP did not give up");
        Ok((ends.cookies()?, pair.journal()?))
    })?;
    ensure!(journal.iter().any(|passed| passed.packet.again), "the request was not sent again");
    let ended = outcomes(&exchanges, cookies.0);
    ensure!(ended == ["ok", "timeout"], "the client's side: {ended:?}");
    Ok(())
}
