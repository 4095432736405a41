//! nginx under h2load, with HTTP/2 in clear: one exchange for each request that h2load logs, or a counted reason.

use anyhow::{Result, ensure};
use observer_tests::{
    observation::Observation,
    ports::free_ports,
    process::Programs,
    recording::{Observed, by_connection},
    skip::all,
    span::{Span, nest},
};

use crate::{
    compare::{accounted, at_most, close},
    h2load::{Load, Logged, RESOLUTION},
    web::{Nginx, any_skipped},
};

/// What is asked for, and how.
struct Case<'a> {
    path: &'a str,
    class: &'a str,
    connections: usize,
    at_once: usize,
    requests: usize,
    further: &'a [&'a str],
    /// At least so many bytes of payload.
    request_bytes: u64,
    response_bytes: u64,
    /// Whether nearly all of the time is the server's.
    slow: bool,
}

const SMALL: Case<'_> = Case {
    path: "/items/17",
    class: "GET /items/{n}",
    connections: 4,
    at_once: 1,
    requests: 4_000,
    further: &[],
    request_bytes: 1,
    response_bytes: 5,
    slow: false,
};

#[test]
fn one_stream_at_once() -> Result<()> {
    check(&SMALL)
}

#[test]
fn ten_streams_at_once() -> Result<()> {
    check(&Case { at_once: 10, requests: 10_000, ..SMALL })
}

#[test]
fn hundreds_of_streams_at_once() -> Result<()> {
    check(&Case { at_once: 100, requests: 20_000, ..SMALL })
}

#[test]
fn one_connection_in_order() -> Result<()> {
    check(&Case { connections: 1, at_once: 10, requests: 5_000, ..SMALL })
}

#[test]
fn large_responses() -> Result<()> {
    check(&Case {
        path: "/large",
        class: "GET /large",
        at_once: 10,
        requests: 600,
        response_bytes: LARGE as u64,
        ..SMALL
    })
}

/// nginx lets two megabytes a second pass on each stream.
#[test]
fn slow_responses() -> Result<()> {
    check(&Case {
        path: "/slow/large",
        class: "GET /slow/large",
        at_once: 10,
        requests: 400,
        response_bytes: LARGE as u64,
        slow: true,
        ..SMALL
    })
}

#[test]
fn request_bodies() -> Result<()> {
    let directory = tempfile::TempDir::new()?;
    let body = directory.path().join("body");
    std::fs::write(&body, vec![b'b'; LARGE])?;
    check(&Case {
        path: "/upload",
        class: "POST /upload",
        at_once: 10,
        requests: 400,
        further: &["-d", &body.to_string_lossy()],
        request_bytes: LARGE as u64,
        ..SMALL
    })
}

/// So long that they take CONTINUATION frames: a frame has 16 KiB at most.
#[test]
fn long_headers() -> Result<()> {
    let headers: Vec<String> = (0..40).map(|number| format!("x-long-{number}: {}", noise(number))).collect();
    let further: Vec<&str> = headers.iter().flat_map(|header| ["-H", header]).collect();
    check(&Case { at_once: 10, requests: 400, further: &further, request_bytes: 30_000, ..SMALL })
}

const LARGE: usize = 200_000;

/// A kilobyte that neither the static nor the dynamic table of header compression holds.
fn noise(seed: u32) -> String {
    let mut state = seed.wrapping_add(1);
    (0..1_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'!' + u8::try_from(state >> 24).unwrap_or_default() % 90)
        })
        .collect()
}

fn check(case: &Case<'_>) -> Result<()> {
    if any_skipped(&["nginx", "h2load"]) {
        return Ok(());
    }
    let [port, behind] = free_ports()?;
    let servers = format!(
        "server {{
            listen 127.0.0.1:{port} http2; root .;
            location /items/ {{ return 200 'hello'; }}
            location /slow/ {{ alias ./; limit_rate 2m; }}
            location /upload {{
                proxy_pass http://127.0.0.1:{behind}/;
                proxy_pass_request_body off; proxy_set_header Content-Length '';
            }}
        }}
        server {{ listen 127.0.0.1:{behind}; location / {{ return 200 'hello'; }} }}"
    );
    let _nginx = Nginx::start(port, &servers, &[("large", &vec![b'x'; LARGE])])?;
    let observation =
        Observation::start(&Programs::beside_tests()?, &["--role", "both", "--port", &port.to_string()])?;
    let requests = if all() { 5 * case.requests } else { case.requests };
    let logged = Load {
        url: format!("http://127.0.0.1:{port}{}", case.path),
        requests,
        connections: case.connections,
        at_once: case.at_once,
        further: case.further,
    }
    .run()?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");

    let exchanges = recording.exchanges()?;
    accounted(&recording, exchanges.len(), 2 * requests, case.at_once)?;
    // Behind a gap, and only there, fields are known again only once they have come anew.
    let whole = exchanges.len() == 2 * requests;
    for exchange in &exchanges {
        ensure!(
            exchange.outcome == "ok"
                && exchange.protocol.as_deref() == Some("http2")
                && exchange.class.as_deref().map_or(!whole, |class| class == case.class)
                && exchange.status.as_deref() == Some("200")
                && !exchange.failed
                && exchange.complete.is_some()
                && exchange.request_bytes >= case.request_bytes
                && exchange.response_bytes >= case.response_bytes,
            "not what was asked for: {exchange:?}"
        );
    }
    let (client, server): (Vec<_>, Vec<_>) = exchanges.into_iter().partition(|row| row.role == "client");
    for (name, rows) in [("client", client), ("server", server)] {
        fits(&format!("h2load -m {}, {name}", case.at_once), case, rows, &logged)?;
    }
    Ok(())
}

/// Every exchange lies within a request of the log; on a single connection within its own.
fn fits(name: &str, case: &Case<'_>, rows: Vec<Observed>, logged: &[Logged]) -> Result<()> {
    let spans: Vec<Span> = rows.iter().map(Span::to_last_byte).collect();
    let asked: Vec<Span> = logged.iter().map(|logged| logged.span).collect();
    let lengths: Vec<u64> = spans.iter().map(|span| span.length()).collect();
    let durations: Vec<u64> = logged.iter().map(|logged| logged.duration.0).collect();
    if case.slow {
        close(name, lengths.clone(), durations.clone())?;
    }
    at_most(name, lengths, durations, RESOLUTION)?;
    nest(&spans, &asked)?;
    let connections = by_connection(rows);
    ensure!(connections.len() == case.connections, "{} connections", connections.len());
    if case.connections == 1 && spans.len() == asked.len() {
        in_order(spans, asked)?;
    }
    Ok(())
}

/// Streams are opened in the order of the requests, which the log tells up to those of the same microsecond.
fn in_order(mut spans: Vec<Span>, mut asked: Vec<Span>) -> Result<()> {
    spans.sort_unstable();
    asked.sort_unstable();
    let mut rest = spans.as_slice();
    for group in asked.chunk_by(|left, right| left.start == right.start) {
        let (own, others) = rest.split_at(group.len());
        nest(own, group)?;
        rest = others;
    }
    Ok(())
}
