//! What an assessment says. Reports carry it as it is.
//!
//! Units are in the names; durations are seconds. What could not be told is absent.

use schemars::JsonSchema;
use serde::Serialize;

/// Why the tail of a service is slow, and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Assessment {
    /// Why the tail is slow.
    pub verdict: Verdict,
    /// What to do about it.
    pub recommendation: Recommendation,
    /// Copies of requests that are in the traffic already; absent where none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hedging: Option<Hedging>,
}

/// Why the tail of a service is slow.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// The cause.
    pub cause: Cause,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Whether a second copy of slow requests would be faster; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hedging_helps: Option<bool>,
    /// Above this a request counts as slow; absent where there is no tail to explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_above_s: Option<f64>,
    /// Requests that were assessed: the latest ones, as many as are kept.
    pub assessed: u64,
    /// How many of them were slow.
    pub slow: u64,
    /// The shares of slow requests that each cause explains; they add up to one where any request was slow.
    pub composition: Composition,
    /// What the verdict rests on.
    pub evidence: Vec<Evidence>,
    /// What is missing for a verdict; absent where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// When instances were slow together; absent where they were not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episodes: Option<Episodes>,
    /// Instances that are slow as a whole, by address.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elevated: Vec<String>,
    /// Classes of requests that are slow everywhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slow_classes: Vec<String>,
    /// Groups of instances that pause together, by address.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<Vec<String>>,
    /// The verdict in one sentence.
    pub summary: String,
}

/// Why requests are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Slowness strikes single requests or short pauses of single instances, unrelated across instances.
    Independent,
    /// It looks independent, but nothing tells requests apart, so that costly requests cannot be ruled out.
    IndependentOrRequest,
    /// One or a few instances, at most half, are slow as a whole.
    Instance,
    /// Instances are slow together: a shared dependency.
    Shared,
    /// Instances are slow together because they are full.
    Saturated,
    /// The response was there, and the client process read it late.
    Caller,
    /// Loss or round-trip time explains it.
    Network,
    /// The same requests are slow everywhere.
    Request,
    /// No cause has half of the slow requests.
    Mixed,
    /// Nothing to fix: p99 is close to p50.
    NoTail,
    /// Too little evidence.
    Insufficient,
}

/// Shares of slow requests by what explains them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Composition {
    /// Chance that strikes single requests, or short pauses of single instances.
    pub independent: Portion,
    /// Instances that are slow as a whole.
    pub instance: Portion,
    /// Times at which instances are slow together.
    pub shared: Portion,
    /// Queues at instances that are full.
    pub saturated: Portion,
    /// A client process that reads late.
    pub caller: Portion,
    /// Loss, or round-trip time.
    pub network: Portion,
    /// What was asked for.
    pub request: Portion,
}

/// A share with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Portion {
    /// The share, from 0 to 1.
    pub share: f64,
    /// Its 95 % interval.
    pub ci: [f64; 2],
}

/// One fact that a verdict rests on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// What it is called.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Its 95 % interval, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci: Option<[f64; 2]>,
    /// What it is compared with, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// What it means here.
    pub meaning: String,
}

/// Times at which instances were slow together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Episodes {
    /// How many there were.
    pub count: u64,
    /// When the first began, after the start of what was assessed.
    pub first_s: f64,
    /// When the last began.
    pub last_s: f64,
    /// How long one lasts, at the median.
    pub length_s: f64,
    /// How far apart their beginnings are, at the median; absent where there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
    /// Whether they come in regular steps, as scheduled jobs do.
    pub regular: bool,
    /// The share of instances with requests at such a time of which some were slow, on average over slow requests.
    pub instances: f64,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Send a second copy of what is late.
    Hedge,
    /// Try that with a hundredth of the requests first.
    Canary,
    /// Take an instance out, or send it less.
    Eject,
    /// Send no second copies.
    DoNotHedge,
    /// Observe longer.
    Wait,
    /// Nothing is to be done.
    None,
}

/// What to do about the tail.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// What to do.
    pub action: Action,
    /// After how long a second copy is sent; for `hedge` and `canary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_s: Option<f64>,
    /// Second copies ÷ requests at most; for `hedge` and `canary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_fraction: Option<f64>,
    /// How many unused second copies may be saved up, at least, for when several are due at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_burst: Option<u32>,
    /// With which probability a second copy of a late request is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hedge_probability: Option<f64>,
    /// Copies of a request at most, the first included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// The quantile that the advice is about, such as 0.99.
    pub target: f64,
    /// Why no second copies are advised; absent where they are, and where nothing needs them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objection: Option<Objection>,
    /// What is expected of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// What other budgets would buy: each step costs more and is faster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// For requests that wait for several of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<FanOut>,
    /// What must hold for the advice.
    pub conditions: Vec<String>,
    /// What to beware of.
    pub warnings: Vec<String>,
    /// What to do instead, or besides.
    pub instead: Vec<String>,
}

/// What speaks against second copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objection {
    /// What makes requests slow would strike their copies too.
    Cause,
    /// There is no other instance, or none that is asked for the same.
    OneInstance,
    /// Somebody said so, or every request writes.
    Writes,
    /// Somebody decided that there are to be none.
    NoBudget,
    /// Too many slow requests are slow together.
    Together,
    /// Slowness struck too seldom to know how it strikes.
    Seldom,
    /// The instances have no room for more.
    NoRoom,
    /// Second copies that are in the traffic win far less often than they would by chance.
    CopiesLose,
    /// The target would hardly fall.
    NotWorthIt,
}

/// What is expected of a policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Expected {
    /// Latencies without second copies.
    pub before: Latencies,
    /// Latencies with them.
    pub after: Latencies,
    /// The 95 % intervals of those.
    pub after_ci: Intervals,
    /// The quantile that decides: the target, or that of one of the requests that a wide one waits for.
    pub decisive: Decisive,
    /// Second copies ÷ requests.
    pub hedge_rate: f64,
    /// Executions ÷ requests − 1.
    pub extra_load: f64,
    /// The share of second copies that answer first.
    pub wins: f64,
}

/// The quantile that decides over an advice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Decisive {
    /// Which one, such as 0.99.
    pub quantile: f64,
    /// It without second copies, in seconds; absent where it is among requests that have no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_s: Option<f64>,
    /// It with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_s: Option<f64>,
    /// The 95 % interval of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_ci_s: Option<[f64; 2]>,
}

/// 95 % intervals of quantiles in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Intervals {
    /// The median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<[f64; 2]>,
    /// 95 in a hundred are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<[f64; 2]>,
    /// 99 in a hundred are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<[f64; 2]>,
    /// 999 in a thousand are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999: Option<[f64; 2]>,
}

/// Quantiles in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Latencies {
    /// The median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// 95 in a hundred are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<f64>,
    /// 99 in a hundred are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// 999 in a thousand are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999: Option<f64>,
}

/// Another budget, and what it buys.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Alternative {
    /// Second copies ÷ requests at most.
    pub budget_fraction: f64,
    /// After how long a second copy is sent.
    pub delay_s: f64,
    /// With which probability.
    pub hedge_probability: f64,
    /// Executions ÷ requests − 1.
    pub extra_load: f64,
    /// The quantile that decides.
    pub target_s: f64,
}

/// For requests that wait for several of these.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FanOut {
    /// For how many a request waits.
    pub width: u32,
    /// The quantile of one of them that decides over the target quantile of the request: target to the power 1 ÷ width.
    pub component_quantile: f64,
    /// That quantile without second copies; absent where too few requests were seen to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub component_s: Option<f64>,
    /// The share of requests that are slow because one of theirs is: 1 − (1 − slow share) to the power of width.
    pub slow_share: f64,
    /// Second copies of any of them ÷ requests that wait for them, at most; for `hedge` and `canary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_per_request: Option<f64>,
}

/// Copies of requests that are in the traffic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Hedging {
    /// Whether there are any.
    pub observed: bool,
    /// Second copies ÷ requests.
    pub rate: f64,
    /// The share of second copies that answered first, of those whose first copy is known; absent where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wins: Option<f64>,
}
