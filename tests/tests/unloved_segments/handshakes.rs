//! Data that comes with the handshake, and connections whose handshake nobody saw.

use std::os::fd::OwnedFd;

use anyhow::{Result, ensure};
use observer_tests::{
    conversation::Ends,
    nesting::Logs,
    network::{Direction, Packet, Pair, Verdict, plain, rules, set_tcp_option},
};
use rustix::net::sockopt::set_tcp_quickack;

use crate::support::{nests, observed, of};

/// A first request that travels with the handshake, and two more.
fn three(
    pair: &Pair,
    prepare_listener: impl Fn(&OwnedFd) -> Result<()> + Sync,
    prepare_client: impl Fn(&OwnedFd) -> Result<()> + Sync,
) -> Result<Logs> {
    let (mut ends, asked) = Ends::open_with_request(pair, prepare_listener, prepare_client, 100)?;
    ends.respond(asked, 200)?;
    ends.exchange()?;
    ends.exchange()?;
    Ok(std::mem::take(&mut ends.logs))
}

#[test]
fn fast_open_carries_a_request_in_the_syn() -> Result<()> {
    let ((logs, journal), exchanges) = observed(|| {
        let mut pair = Pair::forwarded(rules::pass)?;
        // Client and server, both without a cookie: the first connection already carries data.
        for namespace in [&pair.client, &pair.server] {
            namespace.set("ipv4/tcp_fastopen", "519")?;
        }
        let listener = |socket: &OwnedFd| set_tcp_option(socket, libc::TCP_FASTOPEN, 16);
        let client = |socket: &OwnedFd| set_tcp_option(socket, libc::TCP_FASTOPEN_CONNECT, 1);
        let logs = three(&pair, listener, client)?;
        Ok((logs, pair.journal()?))
    })?;
    ensure!(
        journal.iter().any(|passed| passed.packet.is_syn() && passed.packet.length == 100),
        "the SYN carried no data: {journal:?}"
    );
    nests("fast open", &logs, &exchanges)
}

#[test]
fn a_deferred_accept_takes_the_request_with_it() -> Result<()> {
    let (logs, exchanges) = observed(|| {
        let pair = Pair::veth()?;
        let listener = |socket: &OwnedFd| set_tcp_option(socket, libc::TCP_DEFER_ACCEPT, 5);
        three(&pair, listener, plain)
    })?;
    nests("deferred accept", &logs, &exchanges)
}

#[test]
fn the_request_carries_the_last_acknowledgement_of_the_handshake() -> Result<()> {
    let ((logs, journal), exchanges) = observed(|| {
        let mut pair = Pair::forwarded(rules::pass)?;
        let client = |socket: &OwnedFd| Ok(set_tcp_quickack(socket, false)?);
        let logs = three(&pair, plain, client)?;
        Ok((logs, pair.journal()?))
    })?;
    let second = journal.iter().filter(|passed| passed.packet.direction == Direction::ToServer).nth(1);
    ensure!(second.is_some_and(|passed| passed.packet.length == 100), "a bare acknowledgement came first");
    nests("data with the last acknowledgement", &logs, &exchanges)
}

#[test]
fn the_last_acknowledgement_of_the_handshake_is_lost() -> Result<()> {
    let mut lost = false;
    let rule = move |packet: &Packet| {
        if !lost && packet.direction == Direction::ToServer && packet.is_pure_ack() {
            lost = true;
            return Verdict::Drop;
        }
        Verdict::Pass
    };
    let (logs, exchanges) = observed(|| three(&Pair::forwarded(rule)?, plain, plain))?;
    nests("last acknowledgement lost", &logs, &exchanges)
}

#[test]
fn an_older_connection_is_paired_from_its_second_request_on() -> Result<()> {
    let pair = Pair::veth()?;
    let mut ends = Ends::open(&pair)?;
    ends.exchange()?;
    ends.logs = Logs::default();
    let (cookies, exchanges) = observed(|| {
        for _ in 0..10 {
            ends.exchange()?;
        }
        ends.cookies()
    })?;
    // Nothing tells whether the first request seen is the first of its turn: it is counted, not paired.
    let rows = of(&exchanges, cookies.0);
    ensure!(rows.len() == 9 && rows.iter().all(|row| row.outcome == "ok"), "{rows:?}");
    ensure!(
        rows.iter()
            .zip(&ends.logs.client[1..])
            .all(|(row, entry)| { entry.before_write <= row.start && row.first() <= entry.first_read }),
        "the exchanges are those from the second request on"
    );
    Ok(())
}
