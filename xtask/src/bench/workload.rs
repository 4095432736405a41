//! Real servers under their own load generators, on loopback.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use crate::command;

/// What a load generator says of one run.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) requests: u64,
    pub(super) per_second: f64,
    pub(super) p99_ms: f64,
}

/// A server and its load.
pub(super) trait Workload {
    /// Its name.
    fn name(&self) -> &'static str;
    /// The server's port on loopback.
    fn port(&self) -> u16;
    /// Runs the load once.
    fn run(&self) -> Result<Outcome>;
    /// How many frames of HTTP/2 one exchange takes, where it is spoken.
    fn frames(&self) -> Option<u32> {
        None
    }
}

/// A server, which ends with its owner.
struct Server {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Server {
    fn start(command: &mut Command, port: u16, folder: TempDir) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {name}: `cargo xtask test` installs it"))?;
        let server = Self { child, port, _folder: folder };
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(Instant::now() < deadline, "{name} does not listen on port {port}");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// What nginx speaks.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Speaks {
    Http1,
    Tls,
    Http2,
}

/// nginx under wrk, or under h2load.
pub(super) struct Nginx {
    server: Server,
    speaks: Speaks,
}

impl Nginx {
    pub(super) fn start(speaks: Speaks) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = free_port()?;
        let path = folder.path().display();
        let listen = match speaks {
            Speaks::Http1 => format!("listen 127.0.0.1:{port};"),
            Speaks::Http2 => format!("listen 127.0.0.1:{port} http2;"),
            Speaks::Tls => {
                certificate(folder.path())?;
                format!(
                    "listen 127.0.0.1:{port} ssl; ssl_certificate {path}/certificate.pem; \
                     ssl_certificate_key {path}/key.pem;"
                )
            }
        };
        let configuration = format!(
            "daemon off; master_process off; pid {path}/pid; error_log stderr;\n\
             events {{ worker_connections 1024; }}\n\
             http {{ access_log off; keepalive_requests 1000000000;\n\
             client_body_temp_path {path}/body; proxy_temp_path {path}/proxy; fastcgi_temp_path {path}/fastcgi;\n\
             uwsgi_temp_path {path}/uwsgi; scgi_temp_path {path}/scgi;\n\
             server {{ {listen} location / {{ return 200 \"ok\\n\"; }} }} }}\n"
        );
        let file = folder.path().join("nginx.conf");
        fs::write(&file, configuration)?;
        let server = Server::start(Command::new("/usr/sbin/nginx").arg("-c").arg(&file), port, folder)?;
        Ok(Self { server, speaks })
    }
}

/// A key and a certificate that nobody trusts.
fn certificate(folder: &Path) -> Result<()> {
    command::output(
        Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .arg("-keyout")
            .arg(folder.join("key.pem"))
            .arg("-out")
            .arg(folder.join("certificate.pem")),
    )?;
    Ok(())
}

const STREAMED_REQUESTS: u64 = 200_000;

impl Workload for Nginx {
    fn name(&self) -> &'static str {
        match self.speaks {
            Speaks::Http1 => "HTTP/1 (wrk)",
            Speaks::Tls => "TLS (wrk)",
            Speaks::Http2 => "HTTP/2 (h2load)",
        }
    }

    fn port(&self) -> u16 {
        self.server.port
    }

    fn frames(&self) -> Option<u32> {
        // HEADERS, and for the answer HEADERS and DATA.
        (self.speaks == Speaks::Http2).then_some(3)
    }

    fn run(&self) -> Result<Outcome> {
        let scheme = if self.speaks == Speaks::Tls { "https" } else { "http" };
        let url = format!("{scheme}://127.0.0.1:{}/", self.server.port);
        if self.speaks == Speaks::Http2 {
            let log = tempfile::NamedTempFile::new()?;
            let printed = command::output(
                Command::new("h2load")
                    .args(["-n", &STREAMED_REQUESTS.to_string(), "-c", "4", "-m", "10"])
                    .arg(format!("--log-file={}", log.path().display()))
                    .arg(&url),
            )?;
            let log = fs::read_to_string(log.path())?;
            return h2load(&printed, &log)
                .with_context(|| format!("h2load's output is not understood:\n{printed}"));
        }
        let printed = command::output(Command::new("wrk").args(["-t1", "-c16", "-d3s", "--latency", &url]))?;
        wrk(&printed).with_context(|| format!("wrk's output is not understood:\n{printed}"))
    }
}

/// Reads `finished in 1.30s, 115034.42 req/s, …`, and the log's lines `start status microseconds`.
fn h2load(printed: &str, log: &str) -> Option<Outcome> {
    let finished = printed.lines().find_map(|line| line.strip_prefix("finished in "))?;
    let per_second = finished.split(", ").find_map(|part| part.strip_suffix(" req/s"))?.parse().ok()?;
    let mut durations: Vec<u64> =
        log.lines().filter_map(|line| line.split_ascii_whitespace().nth(2)?.parse().ok()).collect();
    durations.sort_unstable();
    let p99 = *durations.get(durations.len() * 99 / 100)?;
    Some(Outcome { requests: u64::try_from(durations.len()).ok()?, per_second, p99_ms: p99 as f64 / 1e3 })
}

fn wrk(printed: &str) -> Option<Outcome> {
    let after = |label: &str| printed.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim);
    let requests = printed.lines().find_map(|line| line.trim().split_once(" requests in "))?.0;
    let p99 = after("99%")?;
    let (number, scale) = if let Some(number) = p99.strip_suffix("us") {
        (number, 1e-3)
    } else if let Some(number) = p99.strip_suffix("ms") {
        (number, 1.0)
    } else {
        (p99.strip_suffix('s')?, 1e3)
    };
    Some(Outcome {
        requests: requests.parse().ok()?,
        per_second: after("Requests/sec:")?.parse().ok()?,
        p99_ms: number.parse::<f64>().ok()? * scale,
    })
}

/// Redis under redis-benchmark.
pub(super) struct Redis(Server);

const REDIS_REQUESTS: u64 = 200_000;

impl Redis {
    pub(super) fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = free_port()?;
        let mut command = Command::new("redis-server");
        command
            .args([
                "--port",
                &port.to_string(),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
            ])
            .arg(folder.path());
        Ok(Self(Server::start(&mut command, port, folder)?))
    }
}

impl Workload for Redis {
    fn name(&self) -> &'static str {
        "Redis (redis-benchmark)"
    }

    fn port(&self) -> u16 {
        self.0.port
    }

    fn run(&self) -> Result<Outcome> {
        let printed = command::output(Command::new("redis-benchmark").args([
            "-p",
            &self.0.port.to_string(),
            "-n",
            &REDIS_REQUESTS.to_string(),
            "-c",
            "16",
            "-t",
            "get",
            "--csv",
        ]))?;
        redis(&printed).with_context(|| format!("redis-benchmark's output is not understood:\n{printed}"))
    }
}

/// Reads `"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms",…`.
fn redis(printed: &str) -> Option<Outcome> {
    let mut lines = printed.lines().map(|line| line.split(',').map(|field| field.trim_matches('"')));
    let names: Vec<_> = lines.next()?.collect();
    let values: Vec<_> = lines.next()?.collect();
    let value = |name: &str| values.get(names.iter().position(|found| *found == name)?)?.parse().ok();
    Some(Outcome { requests: REDIS_REQUESTS, per_second: value("rps")?, p99_ms: value("p99_latency_ms")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrk_is_understood() {
        let printed = "  Latency Distribution\n     50%   89.00us\n     99%    1.25ms\n  \
                       300000 requests in 3.00s, 40MB read\nRequests/sec:  99999.50\n";
        assert_eq!(wrk(printed), Some(Outcome { requests: 300_000, per_second: 99_999.5, p99_ms: 1.25 }));
        assert_eq!(wrk("unable to connect"), None);
    }

    #[test]
    fn h2load_is_understood() {
        let printed = "progress: 100% done\n\nfinished in 1.30s, 115034.42 req/s, 7.79MB/s\n";
        let log = "1700000000000000\t200\t1500\n1700000000000001\t200\t2500\n";
        assert_eq!(h2load(printed, log), Some(Outcome { requests: 2, per_second: 115_034.42, p99_ms: 2.5 }));
        assert_eq!(h2load("unable to connect", ""), None);
    }

    #[test]
    fn redis_benchmark_is_understood() {
        let printed =
            "\"test\",\"rps\",\"avg_latency_ms\",\"p99_latency_ms\"\n\"GET\",\"1000.5\",\"0.1\",\"0.399\"\n";
        let expected = Outcome { requests: REDIS_REQUESTS, per_second: 1_000.5, p99_ms: 0.399 };
        assert_eq!(redis(printed), Some(expected));
    }
}
