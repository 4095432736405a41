//! Addresses that nobody has, translated in the client's own namespace and in its host's.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use observer_tests::{
    observation::{Observation, Recording},
    process::Programs,
    recording::by_connection,
    skip::{all, skipped},
};

use crate::{
    backends::{Asked, Backends, Served, ask},
    cluster::{BACKENDS, Cluster, DIALLED},
};

const REQUESTS: usize = 20;

/// The client's own packets go to the backend: nobody needs to be asked.
#[test]
fn backends_behind_an_address_translated_by_the_client() -> Result<()> {
    if skipped("namespaces") {
        return Ok(());
    }
    let cluster = Cluster::new()?;
    Cluster::translate(&cluster.client, "output")?;
    let observation = Observation::start(&Programs::beside_tests()?, &["--role", "both"])?;
    let (asked, served) = traffic(&cluster)?;
    check(&observation.finish()?, &asked, &served)
}

/// The client's packets go to the address that was dialled, and only the host's table of connections knows more.
#[test]
fn backends_behind_an_address_translated_by_the_host() -> Result<()> {
    if skipped("namespaces") {
        return Ok(());
    }
    let cluster = Cluster::new()?;
    Cluster::translate(&cluster.host, "prerouting")?;
    let observation = Observation::start_in(&cluster.host, &Programs::beside_tests()?, &["--role", "both"])?;
    let (asked, served) = traffic(&cluster)?;
    check(&observation.finish()?, &asked, &served)
}

/// Connections of both families, each with a few requests.
fn traffic(cluster: &Cluster) -> Result<(Vec<Asked>, Vec<Served>)> {
    let backends = Backends::serve(cluster.listen()?)?;
    let connections = BACKENDS * if all() { 100 } else { 4 };
    let mut asked = Vec::new();
    for dialled in DIALLED {
        let dialled = dialled.parse()?;
        asked.extend(
            cluster
                .client
                .run(|| (0..connections).map(|_| ask(dialled, REQUESTS)).collect::<Result<Vec<_>>>())??,
        );
    }
    let mut served = backends.stop()?;
    let served = asked
        .iter()
        .map(|asked| served.remove(&asked.client).context("a connection reached no backend"))
        .collect::<Result<_>>()?;
    Ok((asked, served))
}

/// Every exchange names the backend that served it, and what its client dialled; and the backend's own name who
/// asked.
fn check(recording: &Recording, asked: &[Asked], served: &[Served]) -> Result<()> {
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let mut seen = by_connection(recording.exchanges()?);
    let (mut logged, mut told) = (BTreeMap::new(), BTreeMap::new());
    for (asked, served) in asked.iter().zip(served) {
        let rows = seen.remove(&asked.connection).context("a connection was not recorded")?;
        let backend = served.backend.to_string();
        let dialled = asked.dialled.to_string();
        ensure!(rows.len() == served.requests, "{} exchanges of {}", rows.len(), served.requests);
        for row in &rows {
            ensure!(
                (row.role.as_str(), row.outcome.as_str()) == ("client", "ok")
                    && row.instance == backend
                    && row.service_address.as_ref() == Some(&dialled)
                    && row.service == dialled,
                "not by {backend} for {dialled}: {row:#?}"
            );
            *told.entry(row.instance.clone()).or_insert(0) += 1;
        }
        let rows = seen.remove(&served.connection).context("a backend's socket was not recorded")?;
        let caller = asked.client.ip().to_string();
        ensure!(rows.len() == served.requests, "{} exchanges of {}", rows.len(), served.requests);
        for row in &rows {
            ensure!(
                (row.role.as_str(), row.outcome.as_str()) == ("server", "ok")
                    && row.instance == backend
                    && row.service_address.is_none()
                    && row.client.as_ref() == Some(&caller),
                "not by {backend} for {caller}: {row:#?}"
            );
        }
        *logged.entry(backend).or_insert(0) += served.requests;
    }
    ensure!(logged == told, "the backends log {logged:?}, and the observer tells {told:?}");
    ensure!(logged.len() == 2 * BACKENDS, "every backend was reached: {logged:?}");
    Ok(())
}
