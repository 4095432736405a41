//! One cause: made to happen, observed, judged, and done about it what was advised.

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use observer::demo::{
    self, CopyRecord, Ending, Scenario, Truth,
    hedging::{Attempt, Policy},
};
use serde::Deserialize;

use super::case::Case;
use crate::{case::Hedging, score::HARM, units};

/// Where recordings go, how long they are, and who makes them.
#[derive(Debug)]
pub(super) struct Bench {
    folder: PathBuf,
    duration: Duration,
    observer: PathBuf,
}

/// What was said of a cause, and what came of it.
#[derive(Debug)]
pub(super) struct Judged {
    /// The cause.
    pub(super) case: Case,
    /// What `observer analyze` says of the recording.
    pub(super) said: Said,
    /// Who observed.
    pub(super) source: String,
    /// What `observer demo` itself ended with, where that is another cause or action.
    pub(super) said_at_once: Option<(String, String)>,
    /// The p99 of the client's own log, in seconds.
    pub(super) before_s: f64,
    /// The same of a client that does what was advised; absent where no copies were.
    pub(super) applied: Option<Applied>,
}

/// What the advised copies did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Applied {
    /// The p99 of the client's own log, in seconds.
    pub(super) p99_s: f64,
    /// Copies ÷ requests.
    pub(super) hedged: f64,
    /// Requests that failed.
    pub(super) failed: usize,
}

#[derive(Deserialize)]
struct Report {
    source: Source,
    services: Vec<Said>,
}

#[derive(Deserialize)]
struct Source {
    kind: String,
}

/// What is said of the one service.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    pub(super) exchanges: u64,
    pub(super) verdict: Verdict,
    pub(super) recommendation: Recommendation,
}

#[derive(Debug, Deserialize)]
pub(super) struct Verdict {
    pub(super) cause: String,
    pub(super) summary: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Recommendation {
    pub(super) action: String,
    delay_s: Option<f64>,
    budget_fraction: Option<f64>,
    budget_burst: Option<u32>,
    hedge_probability: Option<f64>,
    pub(super) expected: Option<Expected>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Expected {
    pub(super) after: After,
    pub(super) after_ci: Intervals,
}

#[derive(Debug, Deserialize)]
pub(super) struct Intervals {
    pub(super) p99: Option<[f64; 2]>,
}

#[derive(Debug, Deserialize)]
pub(super) struct After {
    pub(super) p99: Option<f64>,
}

impl Bench {
    /// Records into `folder`, for so long each, with the observer that was built beside this program.
    pub(super) fn new(folder: &Path, duration: Duration) -> Result<Self> {
        let observer = env::current_exe()?.with_file_name("observer");
        ensure!(observer.exists(), "{} is not built", observer.display());
        Ok(Self { folder: folder.into(), duration, observer })
    }

    /// Makes it happen, asks what it was, and does what is advised.
    pub(super) fn judge(&self, case: &Case) -> Result<Judged> {
        let recording = self.folder.join(format!("{}.parquet", case.name()));
        let at_once = report_of(
            Command::new(&self.observer)
                .args(["demo", "--quiet", "--json", "--cause", case.cause.name()])
                .args(["--protocol", &case.protocol()])
                .args(["--duration", &format!("{}ms", self.duration.as_millis())])
                .arg("--record")
                .arg(&recording),
        )?;
        let Report { source, services } =
            report_of(Command::new(&self.observer).args(["analyze", "--quiet", "--json"]).arg(&recording))?;
        let said = only(services)?;
        let said_at_once = only(at_once.services)?;
        let said_at_once = (said_at_once.verdict.cause, said_at_once.recommendation.action);
        let is_same =
            (&said_at_once.0, &said_at_once.1) == (&said.verdict.cause, &said.recommendation.action);

        let truth = self.folder.join(format!("{}.parquet.truth.json", case.name()));
        let truth = fs::read(&truth).with_context(|| format!("cannot read {}", truth.display()))?;
        let truth: Truth = serde_json::from_slice(&truth)?;
        let policy = said.recommendation.policy();
        Ok(Judged {
            case: *case,
            source: source.kind,
            said_at_once: (!is_same).then_some(said_at_once),
            before_s: p99_s(&truth)?,
            applied: policy.map(|policy| self.apply(&truth.scenario, policy)).transpose()?,
            said,
        })
    }

    /// The same arrivals and faults once more, to a client that sends copies.
    fn apply(&self, scenario: &Scenario, policy: Policy) -> Result<Applied> {
        let truth = demo::run(&self.observer, &Scenario { hedging: Some(policy), ..scenario.clone() })?;
        let summary = truth.summary();
        Ok(Applied { p99_s: p99_s(&truth)?, hedged: summary.hedged_share, failed: summary.failed })
    }
}

impl Recommendation {
    /// The copies that are advised, as the lab's client sends them.
    fn policy(&self) -> Option<Policy> {
        let mut policy = Policy::after(Duration::from_nanos(units::seconds(self.delay_s?).0));
        policy.probability = units::share(self.hedge_probability.unwrap_or(1.0));
        policy.budget.per_primary = units::share(self.budget_fraction?);
        policy.budget.burst =
            self.budget_burst.map_or(policy.budget.burst, |burst| units::whole(burst.into()));
        Some(policy)
    }
}

impl Judged {
    /// Whether neither cause nor advice can be named.
    pub(super) fn abstained(&self) -> bool {
        self.said.verdict.cause == "insufficient"
    }

    /// Whether a cause was named that it is not.
    pub(super) fn is_wrong(&self) -> bool {
        !self.abstained() && !self.case.may_be(&self.said.verdict.cause)
    }

    /// Whether something was advised that cannot be defended. Copies that turn out to be a remedy can be.
    pub(super) fn is_ill_advised(&self) -> bool {
        let action = &self.said.recommendation.action;
        let is_proven = self.case.hedging != Hedging::Forbidden
            && self.applied.is_some_and(|applied| applied.p99_s < self.before_s);
        !self.abstained() && !self.case.may_advise(action) && !is_proven
    }

    /// Whether copies were advised where the cause forbids them, or made the p99 worse.
    pub(super) fn is_harm(&self) -> bool {
        let is_worse = self.applied.is_some_and(|applied| applied.p99_s > (1.0 + HARM) * self.before_s);
        let is_forbidden =
            self.said.recommendation.action == "hedge" && self.case.hedging == Hedging::Forbidden;
        is_worse || is_forbidden
    }

    /// What is expected of the copies that were applied. A canary is expected to become what it tries on few.
    pub(super) fn expected(&self) -> Option<&Expected> {
        let advice = &self.said.recommendation;
        advice.expected.as_ref().filter(|_| advice.action == "hedge")
    }

    /// Whether the applied p99 lies where it was expected.
    pub(super) fn is_inside(&self) -> Option<bool> {
        let [low, high] = self.expected()?.after_ci.p99?;
        Some((low..=high).contains(&self.applied?.p99_s))
    }
}

/// What an observer ends with.
fn report_of(command: &mut Command) -> Result<Report> {
    let ended = command.stdin(Stdio::null()).output().context("cannot start the observer")?;
    if !ended.status.success() {
        bail!("{command:?} ended with {}: {}", ended.status, String::from_utf8_lossy(&ended.stderr));
    }
    serde_json::from_slice(&ended.stdout).context("a report is not understood")
}

fn only(services: Vec<Said>) -> Result<Said> {
    let count = services.len();
    let mut services = services.into_iter();
    match (services.next(), count) {
        (Some(said), 1) => Ok(said),
        _ => bail!("a report of {count} services, where there is one"),
    }
}

/// Until the first answer to any copy, from the first copy on, at the p99 of all requests: the client's own log. What was
/// never answered took as long as it was waited for.
fn p99_s(truth: &Truth) -> Result<f64> {
    let mut requests: HashMap<u64, Vec<&CopyRecord>> = HashMap::new();
    for copy in &truth.copies {
        requests.entry(copy.request).or_default().push(copy);
    }
    let mut latencies: Vec<_> = requests.values().filter_map(|copies| latency_ns(copies)).collect();
    latencies.sort_unstable();
    let rank = (latencies.len() * 99).div_ceil(100).saturating_sub(1);
    Ok(*latencies.get(rank).context("no request")? as f64 / 1e9)
}

fn latency_ns(copies: &[&CopyRecord]) -> Option<u64> {
    let begun = copies.iter().find(|copy| copy.attempt == Attempt::Primary)?.start.0;
    let end = |copy: &CopyRecord| copy.start.0 + copy.latency.0;
    let is_answered = |copy: &&&CopyRecord| matches!(copy.ending, Ending::Answered { .. });
    let answered = copies.iter().filter(is_answered).map(|copy| end(copy)).min();
    answered.or_else(|| copies.iter().map(|copy| end(copy)).max()).map(|end| end - begun)
}
