//! What has to hold for every exchange, without exception and without tolerance.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
};

use anyhow::{Context as _, Result, bail, ensure};
use observer_common::{Nanoseconds, Timestamp};

use super::Logs;
use crate::{
    log::{ClientEntry, ServerEntry},
    recording::{Observed, by_connection},
};

/// How close a pair of times came to the wrong order, over all exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slack {
    /// The smallest distance.
    pub tightest: Nanoseconds,
    /// Between how many pairs.
    pub pairs: u64,
}

/// What a check found: every inequality held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many exchanges were checked.
    pub exchanges: u64,
    /// On how many connections.
    pub connections: u64,
    /// The tightest slack of each inequality.
    pub slacks: BTreeMap<&'static str, Slack>,
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{} exchanges on {} connections, one for every request; tightest slack:",
            self.exchanges, self.connections
        )?;
        for (name, slack) in &self.slacks {
            writeln!(formatter, "  {name:<64} {:>8} ns over {} pairs", slack.tightest.0, slack.pairs)?;
        }
        Ok(())
    }
}

/// Checks that the exchanges are exactly the requests of the logs, and that their times nest:
/// the server's interval inside the observer's, and the observer's inside the client's.
///
/// One set of inequalities holds in both roles. Whether a request's first byte is seen leaving the client or
/// arriving at the server, the client has called `write` before and the server's `read` returns afterwards; the
/// same holds, mirrored, for the response.
pub fn check(logs: &Logs, exchanges: Vec<Observed>, role: &str) -> Result<Summary> {
    let mut logged = joined(logs, role)?;
    let ports: HashSet<String> = exchanges
        .iter()
        .filter(|exchange| logged.contains_key(&exchange.connection))
        .map(|exchange| exchange.instance.clone())
        .collect();
    let mut findings = Findings::default();
    for (connection, observed) in by_connection(exchanges) {
        let Some(requests) = logged.remove(&connection) else {
            let stranger = observed.iter().find(|exchange| ports.contains(&exchange.instance));
            ensure!(stranger.is_none(), "an exchange of no known connection: {stranger:?}");
            continue;
        };
        ensure!(
            observed.len() == requests.len(),
            "connection {connection} carried {} requests and {} exchanges were recorded",
            requests.len(),
            observed.len()
        );
        findings.summary.connections += 1;
        for (observed, (client, server)) in observed.iter().zip(requests) {
            findings.exchange(observed, client, server, role)?;
        }
    }
    ensure!(logged.is_empty(), "{} connections were not recorded at all", logged.len());
    findings.finish()
}

/// Checks that the server's log lies inside the client's: what has to hold with no observer at all.
pub fn check_logs(logs: &Logs) -> Result<Summary> {
    let mut findings = Findings::default();
    for requests in joined(logs, "client")?.into_values() {
        findings.summary.connections += 1;
        for (client, server) in requests {
            findings.summary.exchanges += 1;
            let order = [
                ("client before write ≤ server first read", client.before_write, server.first_read),
                ("server first read ≤ server last read", server.first_read, server.last_read),
                ("server last read ≤ server before write", server.last_read, server.before_write),
                ("server before write ≤ client first read", server.before_write, client.first_read),
                ("server before last write ≤ client last read", server.before_last_write, client.last_read),
            ];
            for (name, earlier, later) in order {
                findings.compare(name, earlier, later, || format!("{client:?} {server:?}"));
            }
        }
    }
    findings.finish()
}

/// Both logs' entries for every request, by the cookie of the observed side's connection, in order.
type Joined<'a> = HashMap<u64, Vec<(&'a ClientEntry, &'a ServerEntry)>>;

fn joined<'a>(logs: &'a Logs, role: &str) -> Result<Joined<'a>> {
    let servers: HashMap<u64, &ServerEntry> = logs.server.iter().map(|entry| (entry.id, entry)).collect();
    ensure!(
        servers.len() == logs.server.len() && logs.server.len() == logs.client.len(),
        "the client logged {} requests, the server {}, {} of them distinct",
        logs.client.len(),
        logs.server.len(),
        servers.len()
    );
    let mut joined = Joined::new();
    for client in &logs.client {
        let server = *servers
            .get(&client.id)
            .with_context(|| format!("the server never saw request {}", client.id))?;
        let connection = match role {
            "client" => client.connection,
            "server" => server.connection,
            other => bail!("no exchanges are recorded in the role {other}"),
        };
        joined.entry(connection).or_default().push((client, server));
    }
    for requests in joined.values_mut() {
        requests.sort_by_key(|(client, _)| client.before_write);
    }
    Ok(joined)
}

/// How many violations are shown in full.
const SHOWN: usize = 10;

#[derive(Default)]
struct Findings {
    summary: Summary,
    violations: u64,
    shown: Vec<String>,
}

impl Findings {
    fn exchange(
        &mut self,
        observed: &Observed,
        client: &ClientEntry,
        server: &ServerEntry,
        role: &str,
    ) -> Result<()> {
        self.summary.exchanges += 1;
        ensure!(
            observed.outcome == "ok" && observed.role == role,
            "not an answered {role} exchange: {observed:?}"
        );
        ensure!(
            (observed.request_bytes, observed.response_bytes)
                == (client.request_bytes, client.response_bytes),
            "the sizes differ: {observed:?} {client:?}"
        );
        let start = observed.start;
        let (Some(sent), Some(last)) = (observed.sent_at(), observed.last()) else {
            bail!("an answered exchange has sent_ns and complete_ns: {observed:?}");
        };
        let first = observed.first();
        let order = [
            ("client before write ≤ start", client.before_write, start),
            ("start ≤ server first read", start, server.first_read),
            ("start + sent ≤ server last read", sent, server.last_read),
            ("server before write ≤ start + latency", server.before_write, first),
            ("server before last write ≤ start + complete", server.before_last_write, last),
            ("start + latency ≤ client first read", first, client.first_read),
            ("start + complete ≤ client last read", last, client.last_read),
        ];
        for (name, earlier, later) in order {
            self.compare(name, earlier, later, || format!("{observed:?} {client:?} {server:?}"));
        }
        if let Some(read) = observed.read_at() {
            let name = "start + latency + read lag ≤ client first read";
            self.compare(name, read, client.first_read, || format!("{observed:?} {client:?}"));
        }
        Ok(())
    }

    fn compare(
        &mut self,
        name: &'static str,
        earlier: Timestamp,
        later: Timestamp,
        context: impl FnOnce() -> String,
    ) {
        if let Some(distance) = later.since(earlier) {
            let slack = self.summary.slacks.entry(name).or_insert(Slack { tightest: distance, pairs: 0 });
            slack.tightest = slack.tightest.min(distance);
            slack.pairs += 1;
        } else {
            self.violations += 1;
            if self.shown.len() < SHOWN {
                self.shown.push(format!("{name} by {} ns: {}", earlier.0 - later.0, context()));
            }
        }
    }

    fn finish(self) -> Result<Summary> {
        ensure!(
            self.violations == 0,
            "{} violations over {} exchanges, the first of them:\n{}",
            self.violations,
            self.summary.exchanges,
            self.shown.join("\n")
        );
        Ok(self.summary)
    }
}
