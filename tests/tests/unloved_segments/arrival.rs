//! Segments that are lost, come again, come twice, or come in another order.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use observer_tests::{
    conversation::converse,
    network::{Direction, Packet, Pair, Passed, Verdict, rules},
    wire::Request,
};

use crate::support::{nests, observed, retransmits};

/// Requests whose answers take one segment, several, and many, with requests of the same kinds.
fn requests(count: u32) -> Vec<Request> {
    (0..count)
        .map(|index| {
            let mut request = Request::new(u64::from(index), [0, 200, 9_000, 60_000][index as usize % 4]);
            request.padding = [0, 6_000, 40_000][index as usize % 3];
            request
        })
        .collect()
}

fn happened(journal: &[Passed], what: impl Fn(&Passed) -> bool) -> usize {
    journal.iter().filter(|passed| what(passed)).count()
}

/// Lets `requests` pass a forwarder with a rule, and checks the exchanges. Returns what the forwarder did and how
/// many segments each role has seen again.
fn under(
    name: &str,
    requests: &[Request],
    rest: Duration,
    rule: impl FnMut(&Packet) -> Verdict + Send + 'static,
) -> Result<(Vec<Passed>, u32, u32)> {
    let ((logs, journal), exchanges) = observed(|| {
        let mut pair = Pair::forwarded(rule)?;
        let logs = converse(&pair, requests, rest)?;
        Ok((logs, pair.journal()?))
    })?;
    ensure!(logs.client.len() == requests.len(), "the client sent every request");
    nests(name, &logs, &exchanges)?;
    let again = (retransmits(&exchanges, "client", &logs), retransmits(&exchanges, "server", &logs));
    Ok((journal, again.0, again.1))
}

#[test]
fn nothing_happens_on_a_quiet_link() -> Result<()> {
    let (_, client, server) = under("quiet link", &requests(24), Duration::ZERO, rules::pass)?;
    ensure!((client, server) == (0, 0), "{client} and {server} segments were seen again");
    Ok(())
}

#[test]
fn lost_requests_are_sent_again() -> Result<()> {
    let rule = rules::lose_every(3, Direction::ToServer);
    let (journal, client, _) = under("lost requests", &requests(24), Duration::ZERO, rule)?;
    ensure!(happened(&journal, |passed| passed.verdict == Verdict::Drop) > 0, "nothing was lost");
    ensure!(client > 0, "the client sent nothing again");
    Ok(())
}

#[test]
fn lost_responses_are_sent_again() -> Result<()> {
    let rule = rules::lose_every(3, Direction::ToClient);
    let (journal, _, server) = under("lost responses", &requests(24), Duration::ZERO, rule)?;
    ensure!(happened(&journal, |passed| passed.verdict == Verdict::Drop) > 0, "nothing was lost");
    ensure!(server > 0, "the server sent nothing again");
    Ok(())
}

/// Longer than it takes until what was not acknowledged is sent again.
const SILENCE: Duration = Duration::from_millis(700);

#[test]
fn responses_that_arrived_come_again() -> Result<()> {
    // No acknowledgement reaches the server before the next request, which is late.
    let rule = rules::lose_acknowledgements(Direction::ToServer);
    let (journal, client, server) = under("lost acknowledgements of responses", &requests(8), SILENCE, rule)?;
    let again =
        happened(&journal, |passed| passed.packet.again && passed.packet.direction == Direction::ToClient);
    ensure!(again > 0 && client > 0 && server > 0, "{again} came again, {client} and {server} were seen");
    Ok(())
}

#[test]
fn requests_that_arrived_come_again() -> Result<()> {
    // No acknowledgement reaches the client before the response, which is late.
    let rule = rules::lose_acknowledgements(Direction::ToClient);
    let mut requests = requests(8);
    for request in &mut requests {
        request.delay = SILENCE;
    }
    let (journal, client, server) =
        under("lost acknowledgements of requests", &requests, Duration::ZERO, rule)?;
    let again =
        happened(&journal, |passed| passed.packet.again && passed.packet.direction == Direction::ToServer);
    ensure!(again > 0 && client > 0 && server > 0, "{again} came again, {client} and {server} were seen");
    Ok(())
}

#[test]
fn segments_come_twice() -> Result<()> {
    let (journal, client, server) = under("duplicates", &requests(24), Duration::ZERO, rules::duplicate)?;
    ensure!(happened(&journal, |passed| passed.verdict == Verdict::Twice) > 0, "nothing came twice");
    ensure!(client > 0 && server > 0, "{client} and {server} segments were seen again");
    Ok(())
}

#[test]
fn responses_arrive_out_of_order() -> Result<()> {
    let rule = rules::reorder_every(4, Direction::ToClient);
    let (journal, ..) = under("responses out of order", &requests(24), Duration::ZERO, rule)?;
    ensure!(
        happened(&journal, |passed| matches!(passed.verdict, Verdict::Behind(_))) > 0,
        "all kept their order"
    );
    Ok(())
}

#[test]
fn requests_arrive_out_of_order() -> Result<()> {
    let rule = rules::reorder_every(4, Direction::ToServer);
    let (journal, ..) = under("requests out of order", &requests(24), Duration::ZERO, rule)?;
    ensure!(
        happened(&journal, |passed| matches!(passed.verdict, Verdict::Behind(_))) > 0,
        "all kept their order"
    );
    Ok(())
}

#[test]
fn a_response_that_misses_its_first_segment_has_not_begun() -> Result<()> {
    // The first segment of a response of many is lost; what follows arrives at once and cannot be read.
    let mut lost = false;
    let rule = move |packet: &Packet| {
        if !lost && packet.direction == Direction::ToClient && packet.length > 0 {
            lost = true;
            return Verdict::Drop;
        }
        Verdict::Pass
    };
    let ((logs, journal), exchanges) = observed(|| {
        let mut pair = Pair::forwarded(rule)?;
        let logs = converse(&pair, &[Request::new(0, 9_000)], Duration::ZERO)?;
        Ok((logs, pair.journal()?))
    })?;
    nests("first segment missing", &logs, &exchanges)?;
    let lost = journal.iter().find(|passed| passed.verdict == Verdict::Drop).context("nothing was lost")?;
    let repaired = journal
        .iter()
        .find(|passed| passed.packet.sequence == lost.packet.sequence && passed.verdict == Verdict::Pass)
        .context("the first segment was not sent again")?;
    let response = exchanges.iter().find(|row| row.connection == logs.client[0].connection);
    let response = response.context("the exchange was not recorded")?;
    ensure!(repaired.time <= response.first(), "the response began before its first byte arrived");
    Ok(())
}

#[test]
fn netfilter_loses_large_segments_on_a_veth_pair() -> Result<()> {
    let (logs, exchanges) = observed(|| {
        let pair = Pair::veth()?;
        for namespace in [&pair.client, &pair.server] {
            namespace.nft("add table inet loss")?;
            namespace.nft("add chain inet loss arrival { type filter hook prerouting priority -300 ; }")?;
            namespace
                .nft("add rule inet loss arrival meta length > 100 numgen inc mod 7 == 3 counter drop")?;
        }
        converse(&pair, &requests(36), Duration::ZERO)
    })?;
    nests("netfilter", &logs, &exchanges)?;
    let again = (retransmits(&exchanges, "client", &logs), retransmits(&exchanges, "server", &logs));
    ensure!(again.0 > 0 && again.1 > 0, "{again:?} segments were seen again");
    Ok(())
}
