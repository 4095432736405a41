//! The same traffic, seen by the probes and read from a packet capture: one pairing, one result.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use observer_tests::{
    capture::{Capturing, analyze},
    observation::Observation,
    process::{Lines, Programs, Running, succeed},
    say::say,
    skip::skipped,
};
use serde_json::Value;

#[path = "real_programs/server.rs"]
mod server;

use server::{PATIENCE, free_port, program, serve};

/// What a report says about one instance, one role and one protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counted {
    exchanges: u64,
    failed: u64,
    in_flight: u64,
    /// By outcome, those that there were.
    outcomes: BTreeMap<String, u64>,
}

type Counts = BTreeMap<(String, String, String), Counted>;

fn number(value: &Value, name: &str) -> Result<u64> {
    value[name].as_u64().with_context(|| format!("{name} is a number in {value}"))
}

/// What a report counts. No time in it is negative.
fn counts(report: &Value) -> Result<Counts> {
    let mut counts = Counts::new();
    for service in report["services"].as_array().context("a report has services")? {
        let protocol = service["protocol"].as_str().unwrap_or_default();
        let role = service["role"].as_str().context("a service has a role")?;
        for instance in service["instances"].as_array().context("a service has instances")? {
            let address = instance["address"].as_str().context("an instance has an address")?;
            let key = (address.to_owned(), role.to_owned(), protocol.to_owned());
            let counted = counts.entry(key).or_default();
            counted.exchanges += number(instance, "exchanges")?;
            counted.failed += number(instance, "failed")?;
            counted.in_flight += number(instance, "in_flight")?;
            for (outcome, count) in instance["outcomes"].as_object().context("there are outcomes")? {
                let count = count.as_u64().context("outcomes are counted")?;
                if count != 0 {
                    *counted.outcomes.entry(outcome.clone()).or_default() += count;
                }
            }
            for times in ["latency_s", "last_byte_s"] {
                for quantile in ["p50", "p99", "max"] {
                    let value = instance[times][quantile].as_f64().unwrap_or(0.0);
                    ensure!(value >= 0.0, "{times} {quantile} is {value}");
                }
            }
        }
    }
    Ok(counts)
}

fn unpaired(report: &Value) -> Result<BTreeMap<String, u64>> {
    let unpaired = report["source"]["unpaired"].as_object().context("a report says what is unpaired")?;
    let entries = unpaired.iter().map(|(reason, count)| (reason.clone(), count.as_u64().unwrap_or_default()));
    Ok(entries.filter(|(_, count)| *count != 0).collect())
}

/// What both saw of the traffic.
struct Both {
    kernel: Counts,
    capture: Counts,
    /// What the capture shows that is no certain pair.
    uncertain: BTreeMap<String, u64>,
}

/// Observes and captures what happens on these ports.
fn both(ports: &[u16], traffic: impl FnOnce() -> Result<()>) -> Result<Both> {
    let programs = Programs::beside_tests()?;
    let capturing = Capturing::start(ports)?;
    let observation = Observation::start(&programs, &["--role", "both"])?;
    traffic()?;
    let capture = capturing.finish()?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");

    let mut arguments = vec!["--role".to_owned(), "both".to_owned()];
    for port in ports {
        arguments.extend(["--port".to_owned(), port.to_string()]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let captured = analyze(&programs, capture.path(), &arguments)?;
    let recorded = analyze(&programs, recording.path(), &arguments)?;
    let uncertain = unpaired(&captured)?;
    // The probes count for the whole host: as much as the capture, and no more where nobody else talks.
    let ours = |instance: &str| ports.iter().any(|port| instance.ends_with(&format!(":{port}")));
    let alone = recording.exchanges()?.iter().all(|row| ours(&row.instance));
    let whole_host = unpaired(&recorded)?;
    for (reason, count) in &uncertain {
        let by_probes = whole_host.get(reason).copied().unwrap_or_default();
        ensure!(by_probes >= *count, "{reason}: {count} in the capture, {by_probes} to the probes");
    }
    say(&format!("replay: {uncertain:?} in the capture, {whole_host:?} to the probes, alone: {alone}"));
    Ok(Both { kernel: counts(&recorded)?, capture: counts(&captured)?, uncertain })
}

impl Both {
    /// Both agree; how many exchanges this instance had, by role.
    fn agree(&self, port: u16, protocol: &str) -> Result<Counted> {
        ensure!(
            self.kernel == self.capture,
            "the probes count {:#?}, the capture shows {:#?}",
            self.kernel,
            self.capture
        );
        let of = |role: &str| {
            let key = (format!("127.0.0.1:{port}"), role.to_owned(), protocol.to_owned());
            self.kernel.get(&key).with_context(|| format!("nothing of {key:?}: {:#?}", self.kernel))
        };
        let (client, server) = (of("client")?, of("server")?);
        ensure!(client == server, "clients count {client:?}, servers {server:?}");
        Ok(client.clone())
    }
}

fn run(command: &mut Command) -> Result<String> {
    succeed(command, PATIENCE)
}

#[test]
fn redis_with_and_without_pipelines() -> Result<()> {
    if skipped("redis") || skipped("captures") {
        return Ok(());
    }
    let port = free_port()?;
    let number = port.to_string();
    let options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", &number];
    let _server = serve(Command::new(program("redis-server")?).args(options), port)?;
    let both = both(&[port], || {
        for arguments in [["-n", "800", "-P", "1"], ["-n", "1600", "-P", "16"]] {
            run(Command::new(program("redis-benchmark")?)
                .args(["-h", "127.0.0.1", "-p", &number, "-t", "set,get", "-c", "4", "-q"])
                .args(arguments))?;
        }
        Ok(())
    })?;
    let counted = both.agree(port, "redis")?;
    ensure!(counted.exchanges >= 1_600, "{counted:?}");
    Ok(())
}

#[test]
fn whatever_the_logging_client_asks() -> Result<()> {
    if skipped("captures") {
        return Ok(());
    }
    let programs = Programs::beside_tests()?;
    let directory = tempfile::TempDir::new()?;
    let port = free_port()?;
    let address = format!("127.0.0.1:{port}");
    let both = both(&[port], || {
        let mut server = Running::start(
            programs
                .server()?
                .args(["--connections", "4", "--listen", &address, "--log"])
                .arg(directory.path().join("server"))
                .stdout(Stdio::piped()),
        )?;
        let mut lines = Lines::of(server.child().stdout.take().context("standard output is piped")?);
        lines.next(PATIENCE)?;
        run(programs
            .client()?
            .args(["--connections", "4", "--requests", "200", "--connect", &address, "--log"])
            .arg(directory.path().join("client")))?;
        server.succeed(PATIENCE)
    })?;
    let counted = both.agree(port, "")?;
    ensure!(counted.exchanges == 800 && counted.outcomes["ok"] == 800, "{counted:?}");
    Ok(())
}

/// Ports of one nginx.
struct Ports {
    http: u16,
    http2: u16,
    tls: u16,
}

const LARGE: usize = 200_000;

/// Starts nginx, with a certificate of its own.
fn nginx(directory: &Path) -> Result<(Running, Ports)> {
    let ports = Ports { http: free_port()?, http2: free_port()?, tls: free_port()? };
    let file = |name: &str| directory.join(name).to_string_lossy().into_owned();
    run(Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"])
        .args(["-keyout", &file("key"), "-out", &file("certificate")]))?;
    fs::write(file("large"), vec![b'x'; LARGE])?;
    let Ports { http, http2, tls } = ports;
    let directory = directory.display();
    let configuration = format!(
        "daemon off; master_process off; pid {directory}/pid; error_log {directory}/errors;
        events {{ worker_connections 256; }}
        http {{
            access_log off; keepalive_requests 1000000; keepalive_timeout 600s;
            client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
            fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi;
            scgi_temp_path {directory}/scgi;
            server {{
                listen 127.0.0.1:{http};
                listen 127.0.0.1:{http2} http2;
                listen 127.0.0.1:{tls} ssl;
                ssl_certificate certificate; ssl_certificate_key key; ssl_protocols TLSv1.2 TLSv1.3;
                root {directory};
                location / {{ return 200 'hello'; }}
                location /large {{ }}
                location /broken {{ return 503 'no'; }}
            }}
        }}"
    );
    fs::write(file("nginx.conf"), configuration)?;
    let running =
        serve(Command::new(program("nginx")?).args(["-c", &file("nginx.conf"), "-p", &file("")]), http)?;
    Ok((running, ports))
}

#[test]
fn http_1_of_nginx() -> Result<()> {
    if skipped("nginx") || skipped("captures") || skipped("h2load") {
        return Ok(());
    }
    let directory = tempfile::TempDir::new()?;
    let (_server, ports) = nginx(directory.path())?;
    let port = ports.http;
    let both = both(&[port], || {
        for (path, requests) in [("", "300"), ("large", "30"), ("broken", "30")] {
            run(Command::new("h2load")
                .args(["--h1", "-c", "3", "-m", "1", "-n", requests])
                .arg(format!("http://127.0.0.1:{port}/{path}")))?;
        }
        Ok(())
    })?;
    let counted = both.agree(port, "http1")?;
    ensure!((counted.exchanges, counted.failed) == (360, 30), "{counted:?}");
    Ok(())
}

#[test]
fn http_2_of_nginx() -> Result<()> {
    if skipped("nginx") || skipped("captures") || skipped("h2load") {
        return Ok(());
    }
    let directory = tempfile::TempDir::new()?;
    let (_server, ports) = nginx(directory.path())?;
    let port = ports.http2;
    let both = both(&[port], || {
        for (path, streams, requests) in [("", "8", "600"), ("large", "4", "40"), ("broken", "16", "64")] {
            run(Command::new("h2load")
                .args(["-c", "3", "-m", streams, "-n", requests])
                .arg(format!("http://127.0.0.1:{port}/{path}")))?;
        }
        Ok(())
    })?;
    let counted = both.agree(port, "http2")?;
    ensure!((counted.exchanges, counted.failed) == (704, 64), "{counted:?}");
    ensure!(both.uncertain.is_empty(), "{:?}", both.uncertain);
    Ok(())
}

/// How curl speaks TLS, six requests over one connection.
fn ask_over_tls(port: u16, version: &[&str]) -> Result<()> {
    let url = |path: &str| format!("https://127.0.0.1:{port}/{path}");
    let printed = run(Command::new("curl")
        .args(["--silent", "--insecure", "--http1.1", "--noproxy", "*"])
        .args(version)
        .args([url(""), url(""), url("large"), url(""), url("broken"), url("")]))?;
    ensure!(printed.len() == LARGE + 4 * 5 + 2, "curl got {} bytes", printed.len());
    Ok(())
}

#[test]
fn tls_1_2_of_curl_and_nginx() -> Result<()> {
    if skipped("nginx") || skipped("captures") {
        return Ok(());
    }
    let directory = tempfile::TempDir::new()?;
    let (_server, ports) = nginx(directory.path())?;
    let both =
        both(&[ports.tls], || (0..3).try_for_each(|_| ask_over_tls(ports.tls, &["--tls-max", "1.2"])))?;
    let counted = both.agree(ports.tls, "tls")?;
    ensure!(counted.exchanges == 18 && counted.outcomes["ok"] == 18, "{counted:?}");
    let handshakes = BTreeMap::from([("handshake".to_owned(), 6)]);
    ensure!(both.uncertain == handshakes, "{:?}", both.uncertain);
    Ok(())
}

/// Whether tickets overtake the first request is seen by each for itself: the first turn of a connection is an
/// exchange, or counted.
#[test]
fn tls_1_3_of_curl_and_nginx() -> Result<()> {
    if skipped("nginx") || skipped("captures") {
        return Ok(());
    }
    let directory = tempfile::TempDir::new()?;
    let (_server, ports) = nginx(directory.path())?;
    let both = both(&[ports.tls], || {
        (0..3).try_for_each(|_| {
            thread::sleep(Duration::from_millis(1));
            ask_over_tls(ports.tls, &["--tlsv1.3"])
        })
    })?;
    let of = |counts: &Counts| counts.values().map(|counted| counted.exchanges).sum::<u64>();
    let uncertain = |reason: &str| both.uncertain.get(reason).copied().unwrap_or_default();
    let (kernel, capture) = (of(&both.kernel), of(&both.capture));
    ensure!((30..=36).contains(&kernel), "the probes see {kernel} of 2 × 18 turns");
    ensure!(capture + uncertain("tls") == 36, "{capture} exchanges and {:?}", both.uncertain);
    ensure!(uncertain("handshake") == 6, "{:?}", both.uncertain);
    ensure!(uncertain("overlapping") == 0, "{:?}", both.uncertain);
    Ok(())
}
