//! Access logs that nginx and haproxy write in front of two backends: counts agree exactly with the backends', and
//! each latency lies between what the backend took and what the client saw, within the log's millisecond.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, Result, ensure};
use observer::{
    capture::{
        Opened,
        access_log::{AccessLogOptions, read_from, recognise},
    },
    exchange::{Exchange, Names},
};
use observer_common::{Nanoseconds, Outcome};
use observer_tests::{
    ports::free_ports,
    process::{Programs, succeed},
    say::say,
    skip::all,
};
use rustix::time::{ClockId, clock_getres};
use tempfile::TempDir;

use crate::{
    server::{PATIENCE, program, serve},
    web::{Nginx, any_skipped},
};

/// What the logs' times are cut to.
const MILLISECOND: Nanoseconds = Nanoseconds(1_000_000);

/// nginx reads a clock that the kernel moves on with each tick.
fn tick() -> Nanoseconds {
    let tick = clock_getres(ClockId::MonotonicCoarse);
    Nanoseconds(MILLISECOND.0 + tick.tv_nsec.unsigned_abs())
}

/// A request of the client.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Nanoseconds since 1970, before the request was written.
    start: u64,
    /// From there until the response was read.
    took: u64,
}

/// What the backends did: which of them, and how long it took, in the order of the requests.
type Served = Arc<Mutex<Vec<(usize, u64)>>>;

/// Answers every request after a time that differs from one to the next.
fn backend(listener: TcpListener, number: usize, served: Served) {
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let served = Arc::clone(&served);
            // A client that leaves ends its connection, and nothing else.
            thread::spawn(move || answer(&stream, number, &served));
        }
    });
}

fn answer(stream: &TcpStream, number: usize, served: &Served) -> Result<()> {
    let mut input = BufReader::new(stream);
    loop {
        let mut line = String::new();
        ensure!(input.read_line(&mut line)? > 0, "the proxy left");
        let begun = Instant::now();
        while line.trim() != "" {
            line.clear();
            input.read_line(&mut line)?;
        }
        let count = served.lock().map_or(0, |served| served.len());
        thread::sleep(Duration::from_millis(3 + (count * 7 % 13) as u64));
        let took = nanoseconds(begun.elapsed());
        if let Ok(mut served) = served.lock() {
            served.push((number, took));
        }
        let mut stream = stream;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")?;
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Asks one request after the other on one connection.
fn ask(port: u16, requests: usize) -> Result<Vec<Asked>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream.try_clone()?);
    let mut asked = Vec::new();
    for number in 0..requests {
        let start = nanoseconds(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?);
        let begun = Instant::now();
        write!(stream, "GET /items/{number}?key=secret HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        let mut line = String::new();
        let mut length = None;
        while line != "\r\n" {
            line.clear();
            ensure!(input.read_line(&mut line)? > 0, "the proxy left");
            let header = line.to_ascii_lowercase();
            length = length.or(header.strip_prefix("content-length:").map(|value| value.trim().to_owned()));
        }
        let mut body = vec![0; length.context("the response has a length")?.parse()?];
        std::io::Read::read_exact(&mut input, &mut body)?;
        ensure!(body == b"hello", "another response: {}", String::from_utf8_lossy(&body));
        asked.push(Asked { start, took: nanoseconds(begun.elapsed()) });
    }
    Ok(asked)
}

/// The proxy writes a line after its client has the response.
fn wait_for(log: &Path, is_request: &str, requests: usize) -> Result<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(log).unwrap_or_default();
        if text.ends_with('\n') && text.matches(is_request).count() == requests {
            return Ok(text);
        }
        ensure!(Instant::now() < deadline, "not {requests} lines in {}: {text}", log.display());
        thread::sleep(Duration::from_millis(20));
    }
}

/// Exchanges as the library reads them, each with its instance.
fn read(log: &Path) -> Result<Vec<(String, Exchange)>> {
    let opened = Opened::open(log)?;
    let format = recognise(opened.head()).context("it is recognised")?;
    let mut rows = Vec::new();
    let mut names = Names::default();
    let options = AccessLogOptions { format, skip_bad_rows: false };
    read_from(log, opened, &options, &mut names, &mut |exchange, names| {
        rows.push((names.text(exchange.instance).to_owned(), *exchange));
    })?;
    Ok(rows)
}

/// Exchanges of each instance, in the report that the program prints.
fn reported(log: &Path) -> Result<BTreeMap<String, u64>> {
    let mut command = Command::new(Programs::beside_tests()?.observer);
    let printed = succeed(command.args(["analyze", "--json"]).arg(log), PATIENCE)?;
    ensure!(!printed.contains("secret") && printed.contains("\"access-log\""), "not the report: {printed}");
    let report: serde_json::Value = serde_json::from_str(&printed)?;
    let services = report["services"].as_array().context("a report has services")?;
    ensure!(services.len() == 1, "{} services", services.len());
    let instances = services[0]["instances"].as_array().context("a service has instances")?;
    let count = |instance: &serde_json::Value| {
        Some((instance["address"].as_str()?.to_owned(), instance["exchanges"].as_u64()?))
    };
    instances.iter().map(count).collect::<Option<_>>().context("an instance has a count")
}

/// Compares the answered exchanges of a log with what both of its sides know.
///
/// A duration is right within `resolution`. A start is put together from a moment and from durations.
fn agree(
    log: &Path,
    instances: [&str; 2],
    asked: &[Asked],
    served: &Served,
    resolution: Nanoseconds,
) -> Result<()> {
    let served = served.lock().map(|served| served.clone()).unwrap_or_default();
    ensure!(served.len() == asked.len(), "{} requests came to the backends", served.len());
    let rows: Vec<_> =
        read(log)?.into_iter().filter(|(_, exchange)| exchange.outcome == Outcome::Ok).collect();
    ensure!(rows.len() == asked.len(), "{} exchanges for {} requests", rows.len(), asked.len());
    let (mut least, mut most) = (i128::MAX, i128::MIN);
    for (((instance, exchange), asked), (number, took)) in rows.iter().zip(asked).zip(&served) {
        ensure!(instance == instances[*number], "{instance} did not serve it");
        let latency = exchange.latency.0;
        ensure!(latency + resolution.0 >= *took, "{latency} ns, and the backend took {took} ns");
        ensure!(
            latency <= asked.took + resolution.0,
            "{latency} ns, and the client waited {} ns",
            asked.took
        );
        let end = asked.start + asked.took;
        let within =
            asked.start <= exchange.start.0 + 2 * resolution.0 && exchange.start.0 <= end + 2 * resolution.0;
        ensure!(
            within,
            "it starts at {}, and the client asked from {} to {end}",
            exchange.start.0,
            asked.start
        );
        least = least.min(i128::from(latency) - i128::from(*took));
        most = most.max(i128::from(latency) - i128::from(*took));
    }
    let reported = reported(log)?;
    for (number, instance) in instances.iter().enumerate() {
        let count = served.iter().filter(|(served, _)| *served == number).count();
        ensure!(reported.get(*instance) == Some(&(count as u64)), "{instance}: {count} of {reported:?}");
    }
    say(&format!(
        "{}: {} requests, counts of {reported:?} exact; log less backend {least} to {most} ns",
        log.display(),
        asked.len()
    ));
    Ok(())
}

fn requests() -> usize {
    if all() { 2_000 } else { 200 }
}

/// Two backends, and what they did.
fn backends() -> Result<([u16; 2], Served)> {
    let served = Served::default();
    let mut ports = [0; 2];
    for (number, port) in ports.iter_mut().enumerate() {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        *port = listener.local_addr()?.port();
        backend(listener, number, Arc::clone(&served));
    }
    Ok((ports, served))
}

/// nginx with this `log_format`, in front of two backends and one that is down.
fn nginx(format: &str) -> Result<()> {
    if any_skipped(&["nginx"]) {
        return Ok(());
    }
    let ([one, two], served) = backends()?;
    let [port, down] = free_ports()?;
    let directory = TempDir::new()?;
    let log = directory.path().join("access.log");
    let servers = format!(
        "log_format observer {format};
        upstream items {{
            server 127.0.0.1:{one}; server 127.0.0.1:{two}; server 127.0.0.1:{down} max_fails=0;
        }}
        server {{
            listen 127.0.0.1:{port}; access_log {} observer;
            location / {{ proxy_pass http://items; }}
        }}",
        log.display()
    );
    let _nginx = Nginx::start(port, &servers, &[])?;
    let asked = ask(port, requests())?;
    let text = wait_for(&log, "GET", asked.len())?;
    let [one, two, down] = [one, two, down].map(|port| format!("127.0.0.1:{port}"));
    agree(&log, [&one, &two], &asked, &served, tick())?;
    // Each try of the one that is down is an exchange, too.
    let refused = text.matches(&down).count();
    let rows = read(&log)?;
    let tries =
        rows.iter().filter(|(instance, row)| *instance == down && row.outcome == Outcome::Reset).count();
    ensure!(refused > 0 && tries == refused && rows.len() == asked.len() + refused, "{tries} of {refused}");
    ensure!(reported(&log)?.get(&down) == Some(&(refused as u64)), "{refused} tries are not in the report");
    Ok(())
}

/// The formats that the documentation shows.
fn documented(name: &str) -> Result<String> {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/access-logs.md");
    let text = fs::read_to_string(document)?;
    let (_, format) = text.split_once(&format!("log_format {name} ")).context("the format is documented")?;
    Ok(format.split_once(';').context("it ends")?.0.to_owned())
}

#[test]
fn nginx_logs_json() -> Result<()> {
    nginx(&documented("observer_json")?)
}

#[test]
fn nginx_logs_combined_and_pairs() -> Result<()> {
    nginx(&documented("observer_text")?)
}

#[test]
fn haproxy_logs_http() -> Result<()> {
    if any_skipped(&["haproxy"]) {
        return Ok(());
    }
    let ([one, two], served) = backends()?;
    let [port] = free_ports()?;
    let directory = TempDir::new()?;
    let in_directory = |name: &str| -> PathBuf { directory.path().join(name) };
    let (configuration, log) = (in_directory("haproxy.cfg"), in_directory("haproxy.log"));
    fs::write(
        &configuration,
        format!(
            "global
                nbthread 1
                log stdout format raw local0 info
            defaults
                mode http
                log global
                option httplog
                timeout connect 10s
                timeout client 60s
                timeout server 60s
            frontend front
                bind 127.0.0.1:{port}
                default_backend items
            backend items
                balance roundrobin
                server one 127.0.0.1:{one}
                server two 127.0.0.1:{two}\n"
        ),
    )?;
    // The log goes to standard output, as in a container.
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec \"$0\" -f \"$1\" > \"$2\""])
        .arg(program("haproxy")?)
        .arg(&configuration)
        .arg(&log);
    let _haproxy = serve(command.env("TZ", "UTC"), port)?;
    let asked = ask(port, requests())?;
    wait_for(&log, "\"GET", asked.len())?;
    agree(&log, ["items/one", "items/two"], &asked, &served, MILLISECOND)
}
