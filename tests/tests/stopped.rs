//! A replica that is stopped where it stands: its requests have no answers, and yet they are in the report, each time
//! older, as what they are: longer than that.

use std::{
    fs,
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use observer_common::Timestamp;
use observer_tests::{
    clock::now,
    log::ClientEntry,
    logging_client::ask,
    observation::wait_until_observing,
    process::{Lines, Programs, Running},
    say::say,
    skip::all,
    transport::{Io, cookie},
    wire::Request,
};
use rustix::process::Signal;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_mins(1);
const INTERVAL: &str = "200ms";

/// The replicas' addresses; the second one is stopped.
const REPLICAS: [&str; 3] = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
const STOPPED: usize = 1;

/// How many connections there are to each, and how many requests each of them has answered before one is stopped.
const CONNECTIONS: usize = 2;
const BEFORE: u64 = 50;

/// Successive reports, as they are printed.
struct Reports {
    running: Running,
    lines: Lines,
}

/// What a report says about one replica.
#[derive(Clone, Debug)]
struct Told {
    exchanges: u64,
    in_flight: u64,
    pending_oldest: Option<f64>,
    latency: Value,
}

impl Reports {
    fn start(programs: &Programs, port: u16) -> Result<Self> {
        let mut running = Running::start(
            Command::new(&programs.observer)
                .args(["report", "--format", "jsonl", "--interval", INTERVAL, "--duration", "10m"])
                .args(["--port", &port.to_string()])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped()),
        )?;
        running.prefer()?;
        let mut messages = Lines::of(running.child().stderr.take().context("standard error is piped")?);
        wait_until_observing(&mut messages)?;
        let lines = Lines::of(running.child().stdout.take().context("standard output is piped")?);
        Ok(Self { running, lines })
    }

    /// The next report's replicas; nothing where it says nothing about one of them.
    fn next(&mut self) -> Result<Option<Vec<Told>>> {
        told(&serde_json::from_str(self.lines.next(PATIENCE)?)?)
    }

    /// Ends the observation and returns what the last report says.
    fn finish(mut self) -> Result<Vec<Told>> {
        self.running.signal(Signal::INT)?;
        self.running.succeed(PATIENCE)?;
        let last = self.lines.seen().last().context("there is a last report")?;
        told(&serde_json::from_str(last)?)?.context("the last report says something about all replicas")
    }
}

/// What a report says about each of the replicas.
fn told(report: &Value) -> Result<Option<Vec<Told>>> {
    let services = report["services"].as_array().context("a report has services")?;
    let instances = services.iter().filter_map(|service| service["instances"].as_array()).flatten();
    let instances: Vec<&Value> = instances.collect();
    REPLICAS
        .iter()
        .map(|replica| {
            let of = |instance: &&&Value| {
                instance["address"]
                    .as_str()
                    .is_some_and(|address| address.starts_with(&format!("{replica}:")))
            };
            let Some(instance) = instances.iter().find(of) else { return Ok(None) };
            Ok(Some(Told {
                exchanges: instance["exchanges"].as_u64().context("an instance has exchanges")?,
                in_flight: instance["in_flight"].as_u64().context("an instance has in_flight")?,
                pending_oldest: instance["pending_oldest_s"].as_f64(),
                latency: instance["latency_s"].clone(),
            }))
        })
        .collect()
}

/// Which quantiles are only lower bounds.
fn at_least(told: &Told) -> Vec<&str> {
    told.latency["at_least"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn requests_of_a_stopped_replica_grow_older() -> Result<()> {
    let programs = Programs::beside_tests()?;
    let port = TcpListener::bind("0.0.0.0:0")?.local_addr()?.port();
    let directory = tempfile::TempDir::new()?;
    let mut replicas = Vec::new();
    for replica in REPLICAS {
        let mut running = Running::start(
            programs
                .server()?
                .args(["--listen", &format!("{replica}:{port}"), "--connections", &CONNECTIONS.to_string()])
                .arg("--log")
                .arg(directory.path().join(replica))
                .stdin(Stdio::null())
                .stdout(Stdio::piped()),
        )?;
        Lines::of(running.child().stdout.take().context("standard output is piped")?).next(PATIENCE)?;
        replicas.push(running);
    }
    let mut reports = Reports::start(&programs, port)?;
    let (stop, asking) = (AtomicBool::new(false), AtomicBool::new(false));
    let clients = thread::scope(|scope| -> Result<Vec<Vec<ClientEntry>>> {
        let mut clients = Vec::new();
        for (index, replica) in REPLICAS.iter().enumerate() {
            for _ in 0..CONNECTIONS {
                let address: SocketAddr = format!("{replica}:{port}").parse()?;
                let (stop, asking) = (&stop, &asking);
                clients.push(scope.spawn(move || client(address, index == STOPPED, stop, asking)));
            }
        }
        // Whatever happens, the clients come to an end.
        let watched = watch(&mut reports, &replicas[STOPPED], &asking);
        let continued = replicas[STOPPED].signal(Signal::CONT);
        stop.store(true, Ordering::Relaxed);
        asking.store(true, Ordering::Relaxed);
        let logs = clients
            .into_iter()
            .map(|client| client.join().map_err(|_| anyhow!("a client panicked"))?)
            .collect::<Result<_>>();
        watched.and(continued)?;
        logs
    })?;
    let last = reports.finish()?;
    check_last(&last, &clients)
}

/// Asks again and again; who asks the replica that is stopped rests meanwhile, and then asks once more.
fn client(
    address: SocketAddr,
    stopped: bool,
    stop: &AtomicBool,
    asking: &AtomicBool,
) -> Result<Vec<ClientEntry>> {
    let stream = TcpStream::connect(address)?;
    let connection = cookie(&stream)?;
    let mut transport = Io::Blocking.open(stream)?;
    let (mut log, mut buffer) = (Vec::new(), vec![0; 1 << 10]);
    let mut ask = |id| ask(transport.as_mut(), connection, &Request::new(id, 100), &mut buffer);
    for id in 0..BEFORE {
        log.push(ask(id)?);
    }
    while !(if stopped { asking } else { stop }).load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(1));
        if !stopped {
            log.push(ask(log.len() as u64)?);
        }
    }
    if stopped {
        log.push(ask(BEFORE)?);
    }
    Ok(log)
}

/// Stops a replica and has it asked, and reads what the reports say meanwhile.
fn watch(reports: &mut Reports, replica: &Running, asking: &AtomicBool) -> Result<()> {
    // All is answered.
    let answered = CONNECTIONS as u64 * BEFORE;
    while reports.next()?.is_none_or(|told| told[STOPPED].exchanges != answered) {}
    replica.signal(Signal::STOP)?;
    wait_until_stopped(replica)?;
    let before = now();
    asking.store(true, Ordering::Relaxed);
    let mut ages: Vec<f64> = Vec::new();
    let mut others = 0;
    while ages.len() < if all() { 50 } else { 5 } {
        let told = reports.next()?.context("a report says something about all replicas")?;
        let stopped = &told[STOPPED];
        let waited = seconds(before, now());
        if stopped.in_flight < CONNECTIONS as u64 {
            // Between the one's question and the other's.
            ensure!(ages.is_empty() && waited < PATIENCE.as_secs_f64(), "a request is gone: {stopped:?}");
            continue;
        }
        ensure!(stopped.in_flight == CONNECTIONS as u64, "{stopped:?}");
        ensure!(stopped.exchanges == CONNECTIONS as u64 * (BEFORE + 1), "{stopped:?}");
        let age = stopped.pending_oldest.context("the oldest request has an age")?;
        ensure!(age <= waited, "it waits for {age} s, and was sent {waited} s ago");
        if let Some(last) = ages.last() {
            ensure!(*last < age, "first it waits for {last} s, then for {age} s");
        }
        ages.push(age);
        // Two in a hundred and two wait: what lies beyond them is at least as long as they have waited.
        let bounds = at_least(stopped);
        ensure!(bounds.contains(&"p99") && bounds.contains(&"max"), "{stopped:?}");
        ensure!(!bounds.contains(&"p90"), "{stopped:?}");
        for quantile in ["p99", "max"] {
            let bound = stopped.latency[quantile].as_f64().context("a quantile is a number")?;
            // To three significant digits.
            ensure!((bound / age - 1.0).abs() < 0.01 || bound <= age, "{quantile} of {stopped:?}");
        }
        let alive = told.iter().enumerate().filter(|(index, _)| *index != STOPPED).map(|(_, told)| told);
        let answered = alive.clone().map(|told| told.exchanges).sum::<u64>();
        ensure!(answered > others, "the others answer nobody: {told:#?}");
        others = answered;
        for other in alive {
            ensure!(!at_least(other).contains(&"p90"), "{other:?}");
            ensure!(other.pending_oldest.unwrap_or(0.0) < age, "{other:?} waits longer than {age} s");
        }
    }
    say(&format!("a stopped replica: its oldest request is {ages:.3?} s old, report by report"));
    Ok(())
}

/// After the replica goes on, everything is answered, and as late as the clients say.
fn check_last(last: &[Told], clients: &[Vec<ClientEntry>]) -> Result<()> {
    for (told, logs) in last.iter().zip(clients.chunks(CONNECTIONS)) {
        let requests: usize = logs.iter().map(Vec::len).sum();
        let (told_of, requests) = ((told.exchanges, told.in_flight), (requests as u64, 0));
        ensure!(
            told_of == requests,
            "{told_of:?} exchanges and waiting ones, and the clients log {requests:?}"
        );
        ensure!(at_least(told).is_empty(), "{told:?}");
        let slowest = logs.iter().flatten().map(|entry| seconds(entry.before_write, entry.first_read));
        let slowest = slowest.fold(0.0, f64::max);
        let max = told.latency["max"].as_f64().context("there is a longest latency")?;
        ensure!(max <= slowest, "the longest latency is {max} s, and to the clients {slowest} s");
    }
    Ok(())
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    (to.0 - from.0) as f64 / 1e9
}

/// Waits until the kernel says that a process is stopped.
fn wait_until_stopped(process: &Running) -> Result<()> {
    let path = format!("/proc/{}/stat", process.id());
    for _ in 0..10_000 {
        // `pid (name) state …`
        let stat = fs::read_to_string(&path)?;
        if stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T')) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(1));
    }
    bail!("the replica does not stop")
}
