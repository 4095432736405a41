//! A gRPC server and client of grpcio: unary calls, streams, failures, and calls that are given up.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use observer_common::{Nanoseconds, Timestamp};
use observer_tests::{
    observation::{Observation, Recording},
    process::{Lines, Programs, Running},
    python::python,
    recording::Observed,
    skip::all,
    span::{Span, nest},
};
use rustix::process::Signal;

use crate::{
    compare::{accounted, at_most, close},
    server::{PATIENCE, free_port, serve},
    web::any_skipped,
};

/// A call, as the client saw it.
struct Call {
    span: Span,
    status: String,
}

/// What was asked for, and what came of it.
struct Outcome {
    calls: Vec<Call>,
    client: Vec<Observed>,
    server: Vec<Observed>,
    recording: Recording,
}

/// Lets the client do one task while both ends are observed.
fn observe(task: &str, count: usize) -> Result<Outcome> {
    let port = free_port()?;
    let mut server = serve(&mut script(include_str!("grpc_server.py"), &[&port.to_string()])?, port)?;
    let observation =
        Observation::start(&Programs::beside_tests()?, &["--role", "both", "--port", &port.to_string()])?;
    let mut client = Running::start(
        script(include_str!("grpc_client.py"), &[&port.to_string(), task, &count.to_string()])?
            .stdin(Stdio::null())
            .stdout(Stdio::piped()),
    )?;
    let mut lines = Lines::of(client.child().stdout.take().context("standard output is piped")?);
    if task == "killed" {
        ensure!(lines.next(PATIENCE)? == "waiting", "the client does not wait");
        server.signal(Signal::KILL)?;
        server.wait(PATIENCE)?;
    }
    client.succeed(PATIENCE)?;
    let calls: Vec<Call> = lines
        .seen()
        .iter()
        .filter(|line| *line != "waiting")
        .map(|line| parse(line))
        .collect::<Result<_>>()?;
    let recording = observation.finish()?;
    ensure!(recording.lost()? == 0, "exchanges were lost");
    let (client, server) = recording.exchanges()?.into_iter().partition(|row| row.role == "client");
    Ok(Outcome { calls, client, server, recording })
}

fn script(text: &str, arguments: &[&str]) -> Result<Command> {
    let mut command = python()?;
    command.args(["-c", text]).args(arguments);
    Ok(command)
}

fn parse(line: &str) -> Result<Call> {
    let mut words = line.split(' ');
    let mut word = || words.next().with_context(|| format!("a call has three words, not {line}"));
    let span = Span { start: Timestamp(word()?.parse()?), end: Timestamp(word()?.parse()?) };
    Ok(Call { span, status: word()?.to_owned() })
}

/// Whether a text is the expected one; where not everything is `known`, it may be missing or, for the protocol, the one
/// below.
fn is(text: Option<&String>, expected: &str, known: bool) -> bool {
    match text {
        Some(text) => text == expected || (!known && text == "http2"),
        None => !known,
    }
}

impl Outcome {
    /// Nothing was left out, and at either end there is one exchange for each call, within it, of this class and
    /// status.
    fn fits(&self, name: &str, class: &str, status: &str) -> Result<()> {
        self.accounted(self.calls.len()).with_context(|| name.to_owned())?;
        let calls: Vec<Span> = self.calls.iter().map(|call| call.span).collect();
        for rows in [&self.client, &self.server] {
            ensure!(rows.len() <= calls.len(), "{name}: {} exchanges for {} calls", rows.len(), calls.len());
            // Behind a gap, and only there, fields are known again only once they have come anew.
            let whole = self.client.len() + self.server.len() == 2 * calls.len();
            for row in rows {
                ensure!(
                    row.outcome == "ok"
                        && is(row.protocol.as_ref(), "grpc", whole || row.class.is_some())
                        && is(row.class.as_ref(), class, whole)
                        && is(row.status.as_ref(), status, whole)
                        && (row.failed != (status == "0 OK") || (!whole && row.status.is_none())),
                    "{name}: not what was called: {row:?}"
                );
            }
            let spans: Vec<Span> = rows.iter().map(Span::to_last_byte).collect();
            at_most(
                &format!("grpcio, {name}, {}", rows[0].role),
                rows.iter().map(|row| row.latency.0).collect(),
                calls.iter().map(|call| call.length()).collect(),
                Nanoseconds(0),
            )?;
            nest(&spans, &calls)?;
        }
        Ok(())
    }

    /// There is an exchange for each of so many calls at both ends, or a counted reason.
    fn accounted(&self, calls: usize) -> Result<()> {
        accounted(&self.recording, self.client.len() + self.server.len(), 2 * calls, self.at_once())
    }

    /// How many calls were under way at the same time, at most.
    fn at_once(&self) -> usize {
        let under_way = |moment| {
            self.calls.iter().filter(|call| call.span.start <= moment && moment <= call.span.end).count()
        };
        self.calls.iter().map(|call| under_way(call.span.start)).max().unwrap_or(0)
    }

    fn statuses(&self, expected: &str) -> Result<()> {
        let other = self.calls.iter().find(|call| call.status != expected);
        ensure!(other.is_none(), "a call ended with {:?}", other.map(|call| &call.status));
        Ok(())
    }
}

const UNARY: &str = "/test.Echo/Unary";

fn left_out() -> bool {
    any_skipped(&["python"])
}

#[test]
fn unary_calls_one_after_another() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let outcome = observe("unary", if all() { 10_000 } else { 1_000 })?;
    outcome.statuses("OK")?;
    outcome.fits("one call after another", UNARY, "0 OK")
}

/// The server takes 40 ms for each.
#[test]
fn slow_unary_calls() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let outcome = observe("slow", if all() { 300 } else { 30 })?;
    outcome.statuses("OK")?;
    for rows in [&outcome.client, &outcome.server] {
        close(
            "grpcio, slow calls",
            rows.iter().map(|row| row.latency.0).collect(),
            outcome.calls.iter().map(|call| call.span.length()).collect(),
        )?;
    }
    outcome.fits("slow calls", UNARY, "0 OK")
}

/// Messages that take many frames, and more than one window of flow control.
#[test]
fn unary_calls_with_large_messages() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let outcome = observe("large", if all() { 1_000 } else { 100 })?;
    outcome.statuses("OK")?;
    ensure!(
        outcome.client.iter().all(|row| row.request_bytes > 300_000 && row.response_bytes > 300_000),
        "messages are too short"
    );
    outcome.fits("large messages", UNARY, "0 OK")
}

#[test]
fn two_hundred_unary_calls_at_once() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let outcome = observe("concurrent", if all() { 2_000 } else { 200 })?;
    outcome.statuses("OK")?;
    outcome.fits("calls at once", UNARY, "0 OK")
}

#[test]
fn failing_calls_are_failures() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let outcome = observe("failing", if all() { 2_000 } else { 200 })?;
    outcome.statuses("UNAVAILABLE")?;
    outcome.fits("failing calls", UNARY, "14 UNAVAILABLE")
}

/// Whether a call may be of several messages is the method's; whether it is, is seen.
#[test]
fn streams_of_one_message_are_exchanges() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let count = if all() { 500 } else { 50 };
    let outcome = observe("single", count)?;
    outcome.statuses("OK")?;
    outcome.accounted(3 * count)?;
    for method in ["Down", "Up", "Both"] {
        let class = format!("/test.Echo/{method}");
        for rows in [&outcome.client, &outcome.server] {
            let found = rows
                .iter()
                .filter(|row| {
                    row.class.as_deref() == Some(class.as_str()) && row.status.as_deref() == Some("0 OK")
                })
                .count();
            ensure!(found <= count, "{found} exchanges of {class} for {count} calls");
        }
    }
    let other =
        outcome.client.iter().chain(&outcome.server).find(|row| row.status.as_deref() != Some("0 OK"));
    ensure!(other.is_none(), "not what was called: {other:?}");
    let calls: Vec<Span> = outcome.calls.iter().map(|call| call.span).collect();
    for rows in [&outcome.client, &outcome.server] {
        nest(&rows.iter().map(Span::to_last_byte).collect::<Vec<_>>(), &calls)?;
    }
    Ok(())
}

#[test]
fn streams_are_counted_and_not_timed() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let count = if all() { 500 } else { 50 };
    let outcome = observe("streaming", count)?;
    outcome.statuses("OK")?;
    ensure!(outcome.client.is_empty() && outcome.server.is_empty(), "streams have become exchanges");
    let both_ends = 2 * 3 * count as u64;
    let left_out = outcome.recording.left_out()?.without("push", 2);
    ensure!(left_out.count("streaming") >= both_ends - both_ends / 50, "too few streams: {left_out:?}");
    left_out.are(&["streaming", "overlapping"], both_ends)
}

/// Client and server have the same deadline. Whoever is first ends the call: the client gives it up, or the server
/// says why there is no answer.
#[test]
fn calls_past_their_deadline() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let count = if all() { 100 } else { 15 };
    let outcome = observe("deadline", count)?;
    outcome.statuses("DEADLINE_EXCEEDED")?;
    outcome.accounted(count)?;
    for row in &outcome.client {
        let given_up = row.outcome == "cancelled" && row.status.is_none();
        let refused =
            row.outcome == "ok" && row.status.as_deref() == Some("4 DEADLINE_EXCEEDED") && row.failed;
        ensure!(
            (given_up || refused) && row.class.as_deref() == Some(UNARY),
            "neither given up nor refused: {row:?}"
        );
    }
    let calls: Vec<Span> = outcome.calls.iter().map(|call| call.span).collect();
    // Who gives up does not wait for the answer, so that the end of a call says nothing.
    let began = |row: &Observed| Span { start: row.start, end: row.start };
    nest(&outcome.client.iter().map(began).collect::<Vec<_>>(), &calls)?;
    // At the server's end it is the peer that gave up.
    ensure!(
        outcome
            .server
            .iter()
            .all(|row| row.outcome == "reset" || row.status.as_deref() == Some("4 DEADLINE_EXCEEDED")),
        "a call that did not end: {:?}",
        outcome.server
    );
    Ok(())
}

/// How many calls may wait at the server, whose workers are 32.
const WAITING: usize = 24;

#[test]
fn calls_that_the_client_cancels() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let outcome = observe("cancelled", WAITING)?;
    outcome.statuses("CANCELLED")?;
    for (rows, expected) in [(&outcome.client, "cancelled"), (&outcome.server, "reset")] {
        let (answered, given_up): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.outcome == "ok");
        ensure!(answered.len() == 1, "{} calls were answered", answered.len());
        ensure!(
            given_up.len() == WAITING
                && given_up.iter().all(|row| row.outcome == expected && row.class.as_deref() == Some(UNARY)),
            "not all {expected}: {given_up:?}"
        );
    }
    Ok(())
}

#[test]
fn calls_whose_server_is_killed() -> Result<()> {
    if left_out() {
        return Ok(());
    }
    let outcome = observe("killed", WAITING)?;
    outcome.statuses("UNAVAILABLE")?;
    let (answered, lost): (Vec<_>, Vec<_>) = outcome.client.iter().partition(|row| row.outcome == "ok");
    ensure!(answered.len() == 1, "{} calls were answered", answered.len());
    ensure!(
        lost.len() == WAITING
            && lost.iter().all(|row| row.outcome == "reset" && row.class.as_deref() == Some(UNARY)),
        "not all reset: {lost:?}"
    );
    Ok(())
}
