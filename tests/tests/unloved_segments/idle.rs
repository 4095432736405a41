//! What TCP sends while nobody says anything.

use std::{os::fd::OwnedFd, thread, time::Duration};

use anyhow::{Result, ensure};
use observer_tests::{
    conversation::Ends,
    network::{Direction, Pair, plain, rules},
};
use rustix::net::sockopt::{set_socket_keepalive, set_tcp_keepidle, set_tcp_keepintvl};

use crate::support::{nests, observed, outcomes, probes, retransmits};

fn probing(socket: &OwnedFd) -> Result<()> {
    set_socket_keepalive(socket, true)?;
    set_tcp_keepidle(socket, Duration::from_secs(1))?;
    Ok(set_tcp_keepintvl(socket, Duration::from_secs(1))?)
}

#[test]
fn keep_alive_probes_are_no_data() -> Result<()> {
    let ((logs, journal), exchanges) = observed(|| {
        let mut pair = Pair::forwarded(rules::pass)?;
        let (mut ends, asked) = Ends::open_with_request(&pair, probing, probing, 100)?;
        // Probes of both sides while a response is awaited …
        thread::sleep(Duration::from_millis(2_500));
        ends.respond(asked, 200)?;
        // … and while nothing is.
        thread::sleep(Duration::from_millis(2_500));
        ends.exchange()?;
        Ok((std::mem::take(&mut ends.logs), pair.journal()?))
    })?;
    for direction in [Direction::ToServer, Direction::ToClient] {
        ensure!(probes(&journal, direction) >= 4, "no probes were sent {direction:?}: {journal:?}");
    }
    ensure!(retransmits(&exchanges, "client", &logs) == 0, "a probe was taken for data");
    ensure!(retransmits(&exchanges, "server", &logs) == 0, "a probe was taken for data");
    nests("keep-alive", &logs, &exchanges)
}

#[test]
fn an_idle_connection_shows_its_last_exchange() -> Result<()> {
    // It stays open beyond the end of the observation: the exchange has no successor that would end it.
    let pair = Pair::forwarded(rules::pass)?;
    let mut kept = None;
    let (logs, exchanges) = observed(|| {
        let (mut ends, asked) = Ends::open_with_request(&pair, plain, plain, 100)?;
        ends.respond(asked, 200)?;
        let logs = std::mem::take(&mut ends.logs);
        kept = Some(ends);
        Ok(logs)
    })?;
    drop(kept);
    nests("idle connection", &logs, &exchanges)
}

#[test]
fn a_request_that_still_waits_is_pending() -> Result<()> {
    let pair = Pair::forwarded(rules::pass)?;
    let mut kept = None;
    let (cookies, exchanges) = observed(|| {
        let (ends, _) = Ends::open_with_request(&pair, plain, plain, 100)?;
        let cookies = ends.cookies()?;
        kept = Some(ends);
        Ok(cookies)
    })?;
    drop(kept);
    for cookie in [cookies.0, cookies.1] {
        let ended = outcomes(&exchanges, cookie);
        ensure!(ended == ["pending"], "{ended:?}");
    }
    Ok(())
}
