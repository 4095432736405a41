//! One run of `observer demo`, and what everybody saw of it.

use std::{fs, net::SocketAddr, process::Command, time::Duration};

use anyhow::{Context as _, Result, ensure};
use observer::demo::{Cause, CopyRecord, Ending, Fault, FaultSpan, Truth, Wire};
use observer_common::{Nanoseconds, Timestamp};
use observer_tests::process::{Programs, succeed};
use serde_json::Value;
use tempfile::TempDir;

/// How long the command may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// A request that takes longer met a fault: half of the shortest one, and many times the usual service.
pub(crate) const SLOW: Nanoseconds = Nanoseconds(75_000_000);
/// How far two processes' views of one moment may differ.
pub(crate) const SLACK: Nanoseconds = Nanoseconds(20_000_000);

/// What came of a run.
pub(crate) struct Run {
    pub(crate) truth: Truth,
    pub(crate) report: Value,
}

impl Run {
    /// Runs a cause for a moment, with probes, and checks what holds for every one.
    pub(crate) fn of(cause: Cause, wire: Wire) -> Result<Self> {
        Self::lasting(cause, wire, "2500ms")
    }

    /// The same for a while.
    pub(crate) fn lasting(cause: Cause, wire: Wire, duration: &str) -> Result<Self> {
        let directory = TempDir::new()?;
        let recording = directory.path().join("recording.csv");
        let protocol = match wire {
            Wire::Http1 => "http1",
            Wire::Grpc => "grpc",
        };
        let report = succeed(
            Command::new(Programs::beside_tests()?.observer)
                .args(["demo", "--json", "--duration", duration, "--cause", cause.name()])
                .args(["--protocol", protocol, "--record"])
                .arg(&recording),
            PATIENCE,
        )?;
        let truth = fs::read_to_string(directory.path().join("recording.csv.truth.json"))?;
        let run = Self { truth: serde_json::from_str(&truth)?, report: serde_json::from_str(&report)? };
        run.is_whole()?;
        for (file, rows) in [("recording.csv", run.exchanges()?), ("recording.csv.client.csv", run.copies())]
        {
            let log = fs::read_to_string(directory.path().join(file))?;
            let lines = log.lines().filter(|line| !line.starts_with('#')).count();
            ensure!(lines == rows + 1, "{file} has {lines} lines for {rows} exchanges");
        }
        Ok(run)
    }

    fn copies(&self) -> usize {
        self.truth.copies.len()
    }

    fn exchanges(&self) -> Result<usize> {
        let exchanges = self.service()["exchanges"].as_u64().context("a service has exchanges")?;
        Ok(usize::try_from(exchanges)?)
    }

    /// The one service of the report.
    pub(crate) fn service(&self) -> &Value {
        &self.report["services"][0]
    }

    /// A quantile of the report, in seconds.
    pub(crate) fn quantile(&self, what: &str, quantile: &str) -> Result<f64> {
        self.service()[what][quantile].as_f64().with_context(|| format!("a report has {what}.{quantile}"))
    }

    /// Every request was answered, at each of three replicas, and the probes saw nearly every one.
    fn is_whole(&self) -> Result<()> {
        ensure!(self.report["source"]["kind"] == "kernel", "not observed: {}", self.report["source"]);
        let unanswered = self.truth.requests.iter().filter(|request| request.winner.is_none()).count();
        ensure!(unanswered == 0, "{unanswered} requests were not answered");
        ensure!(self.truth.requests.len() > 150, "only {} requests", self.truth.requests.len());
        ensure!(self.copies() == self.truth.requests.len(), "a request without a copy");
        ensure!(self.truth.executions.len() == self.copies(), "a copy that no replica dealt with");
        let exchanges = self.exchanges()?;
        let source = &self.report["source"];
        let counted: u64 =
            source["unpaired"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum();
        let left_out = usize::try_from(counted + source["lost_events"].as_u64().unwrap_or_default())?;
        ensure!(
            exchanges <= self.copies()
                && 100 * exchanges >= 99 * self.copies()
                && exchanges + left_out >= self.copies(),
            "{exchanges} exchanges for {} copies, {left_out} counted as left out",
            self.copies()
        );
        let instances = self.service()["instances"].as_array().context("a service has instances")?;
        let reported: Vec<_> = instances.iter().filter_map(|instance| instance["address"].as_str()).collect();
        let asked: Vec<_> = self.instances().iter().map(ToString::to_string).collect();
        ensure!(reported == asked && asked.len() == 3, "{reported:?} were reported, {asked:?} asked");
        Ok(())
    }

    /// Every replica that was asked.
    pub(crate) fn instances(&self) -> Vec<SocketAddr> {
        let mut instances: Vec<_> = self.truth.copies.iter().map(|copy| copy.instance).collect();
        instances.sort_unstable();
        instances.dedup();
        instances
    }

    /// The times for which a fault was on; there is at least one.
    pub(crate) fn faults(&self, fault: Fault) -> Result<Vec<&FaultSpan>> {
        let spans: Vec<_> = self.truth.faults.iter().filter(|span| span.fault == fault).collect();
        ensure!(!spans.is_empty(), "{fault:?} was never on: {:?}", self.truth.faults);
        Ok(spans)
    }

    /// The copies that took long; there are some, and `explained` holds for nearly all: the machine may be busy.
    pub(crate) fn slow_ones_are(&self, explained: impl Fn(&CopyRecord) -> bool) -> Result<()> {
        let slow: Vec<_> = self.truth.copies.iter().filter(|copy| took(copy) >= SLOW).collect();
        ensure!(slow.len() >= 5, "only {} of {} were slow", slow.len(), self.copies());
        let unexplained: Vec<_> = slow.iter().filter(|copy| !explained(copy)).collect();
        ensure!(
            20 * unexplained.len() <= slow.len(),
            "{} of {} slow ones have no reason, such as {:?}; the faults were {:?}",
            unexplained.len(),
            slow.len(),
            unexplained[0],
            self.truth.faults
        );
        Ok(())
    }

    /// Nearly every replica's own time for a request is short.
    pub(crate) fn replicas_answered_in_time(&self) -> Result<()> {
        let executions = &self.truth.executions;
        let late = executions
            .iter()
            .filter(|execution| execution.ended.since(execution.arrived).is_none_or(|time| time >= SLOW))
            .count();
        ensure!(100 * late <= executions.len(), "{late} of {} executions took long", executions.len());
        Ok(())
    }
}

/// When a copy was over, for the client.
pub(crate) fn end(copy: &CopyRecord) -> Timestamp {
    Timestamp(copy.start.0 + took(copy).0)
}

/// How long a copy took, for the client.
pub(crate) fn took(copy: &CopyRecord) -> Nanoseconds {
    match copy.ending {
        Ending::Answered { complete, .. } => complete,
        Ending::Cancelled | Ending::Reset => copy.latency,
    }
}

/// Whether a copy was under way while a fault was on.
pub(crate) fn overlaps(copy: &CopyRecord, fault: &FaultSpan) -> bool {
    copy.start <= fault.end && fault.begin <= end(copy)
}

/// Whether a copy was sent while a fault was on, and not in its first or last moment.
pub(crate) fn sent_within(copy: &CopyRecord, fault: &FaultSpan) -> bool {
    fault.begin.0 + SLACK.0 <= copy.start.0 && copy.start.0 + SLACK.0 <= fault.end.0
}

/// The smallest value that a share of all does not exceed.
pub(crate) fn quantile(times: impl Iterator<Item = Nanoseconds>, percent: usize) -> Result<Nanoseconds> {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(rank).copied().context("a quantile of nothing")
}
