//! haproxy between h2load and nginx: each hop is a service of its own, and the one behind lies within the one in
//! front.

use std::{collections::BTreeSet, fs, process::Command};

use anyhow::{Context as _, Result, ensure};
use observer_tests::{
    observation::Observation,
    ports::free_ports,
    process::Programs,
    recording::Observed,
    skip::all,
    span::{Span, nest},
};

use crate::{
    compare::{accounted, at_most},
    h2load::{Load, Logged, RESOLUTION},
    server::{program, serve},
    web::{Nginx, any_skipped},
};

const CONNECTIONS: usize = 4;

/// What one side of haproxy speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Http1,
    Http2,
}

impl Speaks {
    const fn protocol(self) -> &'static str {
        match self {
            Self::Http1 => "http1",
            Self::Http2 => "http2",
        }
    }

    /// For haproxy's `bind` and `server`.
    const fn option(self) -> &'static str {
        match self {
            Self::Http1 => "",
            Self::Http2 => "proto h2",
        }
    }
}

#[test]
fn http1_on_both_sides() -> Result<()> {
    check(Speaks::Http1, Speaks::Http1, 1)
}

#[test]
fn http2_in_front_and_http1_behind() -> Result<()> {
    check(Speaks::Http2, Speaks::Http1, 10)
}

#[test]
fn http2_on_both_sides() -> Result<()> {
    check(Speaks::Http2, Speaks::Http2, 10)
}

fn check(front: Speaks, behind: Speaks, at_once: usize) -> Result<()> {
    if any_skipped(&["nginx", "h2load", "haproxy"]) {
        return Ok(());
    }
    let [port, origin] = free_ports()?;
    let listen = if behind == Speaks::Http2 { "http2" } else { "" };
    let server = format!(
        "server {{ listen 127.0.0.1:{origin} {listen}; location /items/ {{ return 200 'hello'; }} }}"
    );
    let _nginx = Nginx::start(origin, &server, &[])?;
    let directory = tempfile::TempDir::new()?;
    let configuration = directory.path().join("haproxy.cfg");
    fs::write(&configuration, configured(port, front, origin, behind))?;
    let _haproxy = serve(Command::new(program("haproxy")?).arg("-f").arg(&configuration), port)?;

    let (in_front, at_origin) = (port.to_string(), origin.to_string());
    let observation =
        Observation::start(&Programs::beside_tests()?, &["--port", &in_front, "--port", &at_origin])?;
    let requests = if all() { 20_000 } else { 3_000 };
    let logged = Load {
        url: format!("http://127.0.0.1:{port}/items/17"),
        requests,
        connections: CONNECTIONS,
        at_once,
        further: if front == Speaks::Http1 { &["--h1"] } else { &[] },
    }
    .run()?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let exchanges = recording.exchanges()?;
    accounted(&recording, exchanges.len(), 2 * requests, at_once)?;

    let report = recording.report()?;
    let services: BTreeSet<&str> = report["services"]
        .as_array()
        .context("a report has services")?
        .iter()
        .filter_map(|service| service["name"].as_str())
        .collect();
    ensure!(services.len() == 2, "not one service for each hop: {services:?}");

    let (first, second): (Vec<_>, Vec<_>) =
        exchanges.into_iter().partition(|row| row.instance.ends_with(&format!(":{port}")));
    is_hop(&first, front, requests, "h2load")?;
    is_hop(&second, behind, requests, "haproxy")?;
    nested(&first, &second, &logged)
}

fn is_hop(rows: &[Observed], speaks: Speaks, requests: usize, who: &str) -> Result<()> {
    ensure!(rows.len() <= requests, "{} exchanges for {requests} requests", rows.len());
    for row in rows {
        ensure!(
            row.outcome == "ok"
                && row.protocol.as_deref() == Some(speaks.protocol())
                && row.class.as_deref() == Some("GET /items/{n}")
                && row.status.as_deref() == Some("200")
                && row.comm.as_deref() == Some(who),
            "not what {who} asked for: {row:?}"
        );
    }
    Ok(())
}

/// Each request behind haproxy lies within one in front of it, which lies within one of h2load's log.
fn nested(first: &[Observed], second: &[Observed], logged: &[Logged]) -> Result<()> {
    let lengths = |rows: &[Observed]| rows.iter().map(|row| row.latency.0).collect();
    at_most(
        "h2load, in front of haproxy",
        lengths(first),
        logged.iter().map(|logged| logged.duration.0).collect(),
        RESOLUTION,
    )?;
    // Where one in front was left out, that behind it has only the log to lie within.
    let whole = first.len() == logged.len();
    if whole {
        at_most("in front of haproxy, behind haproxy", lengths(second), lengths(first), RESOLUTION)?;
    }
    for span in [Span::to_first_byte, Span::to_last_byte] {
        let in_front: Vec<Span> = first.iter().map(span).collect();
        let behind: Vec<Span> = second.iter().map(span).collect();
        let asked: Vec<Span> = logged.iter().map(|logged| logged.span).collect();
        nest(&in_front, &asked)?;
        nest(&behind, if whole { &in_front } else { &asked })?;
    }
    Ok(())
}

/// One thread, no checks and no log.
fn configured(port: u16, front: Speaks, origin: u16, behind: Speaks) -> String {
    format!(
        "global
            nbthread 1
        defaults
            mode http
            timeout connect 10s
            timeout client 60s
            timeout server 60s
        frontend front
            bind 127.0.0.1:{port} {}
            default_backend behind
        backend behind
            http-reuse always
            server origin 127.0.0.1:{origin} {}\n",
        front.option(),
        behind.option()
    )
}
