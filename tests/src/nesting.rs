//! The proof that the observer's times are true: they lie between what the client and the server logged
//! themselves, on the same clock, for every request.

mod check;
mod plan;

use std::{process::Stdio, thread, time::Duration};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

pub use check::{Slack, Summary, check, check_logs};
pub use plan::{Family, Group, Plan};

use crate::{
    log::{self, ClientEntry, ServerEntry},
    observation::Observation,
    process::{Lines, Programs, Running},
};

/// How long a plan's traffic may take.
const PATIENCE: Duration = Duration::from_mins(4);

/// What clients and servers logged.
#[derive(Debug, Default)]
pub struct Logs {
    /// By request, in the order of each connection.
    pub client: Vec<ClientEntry>,
    /// By request, in the order of each connection.
    pub server: Vec<ServerEntry>,
}

/// Observes a plan's traffic in the given role (`client` or `server`) and checks every exchange.
pub fn run(programs: &Programs, plan: &Plan, role: &str) -> Result<Summary> {
    let observation = Observation::start(programs, &["--role", role])?;
    let logs = traffic(programs, plan)?;
    let recording = observation.finish()?;
    let exchanges = recording.exchanges()?;
    let lost = recording.lost()?;
    ensure!(lost == 0, "{lost} exchanges were lost");
    check(&logs, exchanges, role)
}

/// Runs a plan's clients and servers, all groups at once, each as a process of its own.
pub fn traffic(programs: &Programs, plan: &Plan) -> Result<Logs> {
    let directory = TempDir::new()?;
    let groups: Vec<Result<Logs>> = thread::scope(|scope| {
        let threads: Vec<_> = plan
            .groups
            .iter()
            .enumerate()
            .map(|(index, group)| {
                let path = directory.path().join(index.to_string());
                scope.spawn(move || group_traffic(programs, group, &path))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a group's thread panicked"))))
            .collect()
    });
    let mut logs = Logs::default();
    for (index, group) in groups.into_iter().enumerate() {
        let mut group = group.with_context(|| format!("group {:?}", plan.groups[index]))?;
        // Request numbers are unique within a group only.
        let group_bits = (index as u64) << 48;
        group.client.iter_mut().for_each(|entry| entry.id |= group_bits);
        group.server.iter_mut().for_each(|entry| entry.id |= group_bits);
        logs.client.append(&mut group.client);
        logs.server.append(&mut group.server);
    }
    Ok(logs)
}

fn group_traffic(programs: &Programs, group: &Group, path: &std::path::Path) -> Result<Logs> {
    let (client_log, server_log) = (path.with_extension("client"), path.with_extension("server"));
    let connections = group.connections.to_string();
    let mut server = Running::start(
        programs
            .server()?
            .args(["--listen", group.family.listen(), "--connections", &connections])
            .args(["--io", group.server.name(), "--log"])
            .arg(&server_log)
            .stdin(Stdio::null())
            .stdout(Stdio::piped()),
    )?;
    let mut lines = Lines::of(server.child().stdout.take().context("standard output is piped")?);
    let listening: std::net::SocketAddr =
        lines.next(Duration::from_secs(20)).context("the logging server's address")?.parse()?;
    let mut client = Running::start(
        programs
            .client()?
            .args(["--connect", &group.family.connect(listening.port()).to_string()])
            .args(["--connections", &connections, "--requests", &group.requests.to_string()])
            .args(["--large", &group.large.to_string(), "--io", group.client.name(), "--log"])
            .arg(&client_log)
            .args(group.quick.then_some("--quick"))
            .stdin(Stdio::null()),
    )?;
    client.succeed(PATIENCE)?;
    server.succeed(PATIENCE)?;
    Ok(Logs { client: log::read(&client_log)?, server: log::read(&server_log)? })
}
