//! What several runs say together. Every output is drawn from it; its names are published by
//! `observer schema simulation`.
//!
//! Units are in the names; durations are seconds. What cannot be told is absent.

use observer_common::Nanoseconds;
use schemars::JsonSchema;
use serde::Serialize;

use super::figures::{Figures, Part, QUANTILES, Quantiles};
use crate::simulation::{Denied, Discipline, Estimate, Extent, Policy, SLICES, System};

/// The version of the model: it changes when a field is removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// What several policies do to one system.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Changes when a field is removed or changes its meaning.
    pub schema_version: u32,
    /// What was simulated.
    pub system: SystemText,
    /// Which seeds, and how much each.
    pub runs: Runs,
    /// What each policy did, in the order they were asked for.
    pub policies: Vec<PolicyResult>,
    /// The same at other loads; absent where that was not asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub against_load: Vec<AtLoad>,
}

/// A system, as it is written on the command line.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SystemText {
    /// When requests arrive.
    pub arrivals: String,
    /// The mean rate of requests; absent for a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// How many calls a request makes.
    pub fanout: u32,
    /// Which instance a call goes to.
    pub balancing: String,
    /// How many instances there are.
    pub instances: u32,
    /// How many calls an instance serves at the full rate at a time.
    pub slots: u32,
    /// What an instance does with more calls than that.
    pub discipline: String,
    /// How long a call takes to serve.
    pub service: String,
    /// The mean of that.
    pub service_mean_s: f64,
    /// Offered load ÷ capacity with one copy of every call; absent for a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
}

/// Which seeds, and how much each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Runs {
    /// The first seed; the others follow it.
    pub first_seed: u64,
    /// How many seeds.
    pub seeds: u32,
    /// In which simulated time requests arrived.
    pub duration_s: f64,
    /// How many requests could arrive at most.
    pub request_limit: u64,
    /// Whether some run ended at that limit, before its time was up.
    pub reached_limit: bool,
}

/// What one policy did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PolicyResult {
    /// The policy, as it is written on the command line.
    pub policy: String,
    /// Requests of a run.
    pub requests: Estimate,
    /// Latency of all requests.
    pub latency_s: QuantileEstimates,
    /// Requests of which a call had a second copy.
    pub hedged: PopulationEstimate,
    /// The others.
    pub unhedged: PopulationEstimate,
    /// Copies that were begun to be served ÷ requests.
    pub executions_per_request: Estimate,
    /// The share of copies beyond the first that answered their call; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub won_share: Option<Estimate>,
    /// Hedges of a run that were due and not sent.
    pub denied: DeniedEstimate,
    /// The share of requests of which a deadline cut off calls.
    pub partial_share: Estimate,
    /// The share of requests of which a call was given up without an answer.
    pub failed_share: Estimate,
    /// Latency by when requests arrived.
    pub over_time: Vec<Slice>,
}

/// Some of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PopulationEstimate {
    /// The share of all requests that they are.
    pub share: Estimate,
    /// Their latency.
    pub latency_s: QuantileEstimates,
}

/// Quantiles of latency; one is absent where not even one request is expected beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QuantileEstimates {
    /// The median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<Estimate>,
    /// 95 in a hundred are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<Estimate>,
    /// 99 in a hundred are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Estimate>,
    /// 999 in a thousand are not longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999: Option<Estimate>,
}

/// Hedges of a run that were due and not sent, by the first reason that held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeniedEstimate {
    /// For whatever reason.
    pub all: Estimate,
    /// The budget was spent.
    pub budget: Estimate,
    /// The request had its share of copies.
    pub per_request: Estimate,
    /// No other instance was idle.
    pub no_idle: Estimate,
    /// Too many calls waited.
    pub overload: Estimate,
}

/// The requests that arrived in a part of the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Slice {
    /// When it begins.
    pub start_s: f64,
    /// The median over the seeds of their median latency; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_s: Option<f64>,
    /// The median over the seeds of their p99.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_s: Option<f64>,
}

/// What the policies do at another load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AtLoad {
    /// Offered load ÷ capacity with one copy of every call.
    pub utilization: f64,
    /// The latency under each policy, in the order of `policies`.
    pub latency_s: Vec<QuantileEstimates>,
}

impl Comparison {
    /// Sums up runs: for each policy its figures, one a seed.
    pub fn new(
        system: &System,
        extent: Extent,
        first_seed: u64,
        policies: &[(Policy, Vec<Figures>)],
    ) -> Self {
        let all = || policies.iter().flat_map(|(_, figures)| figures);
        let runs = Runs {
            first_seed,
            seeds: policies
                .first()
                .map_or(0, |(_, figures)| u32::try_from(figures.len()).unwrap_or(u32::MAX)),
            duration_s: extent.duration.as_seconds(),
            request_limit: extent.requests,
            reached_limit: all().any(|figures| figures.reached_bound),
        };
        Self {
            schema_version: SCHEMA_VERSION,
            system: SystemText::of(system),
            runs,
            policies: policies
                .iter()
                .filter_map(|(policy, figures)| PolicyResult::over(policy, figures, extent.duration))
                .collect(),
            against_load: Vec::new(),
        }
    }
}

impl SystemText {
    fn of(system: &System) -> Self {
        Self {
            arrivals: system.arrivals.to_string(),
            rate_per_s: system.arrivals.rate().map(crate::simulation::Rate::as_per_second),
            fanout: system.width.get(),
            balancing: system.balancing.to_string(),
            instances: system.instances.get(),
            slots: system.slots.get(),
            discipline: match system.discipline {
                Discipline::FirstInFirstOut => "fifo".into(),
                Discipline::ProcessorSharing => "sharing".into(),
            },
            service: system.service.to_string(),
            service_mean_s: system.service.mean_seconds(),
            utilization: system.utilisation(),
        }
    }
}

impl PolicyResult {
    /// Sums up the runs of one policy; nothing without any.
    fn over(policy: &Policy, figures: &[Figures], duration: Nanoseconds) -> Option<Self> {
        let over = |of: &dyn Fn(&Figures) -> f64| Estimate::over(figures.iter().map(of));
        let denied = |of: &dyn Fn(&Denied) -> u64| over(&|figures| of(&figures.denied) as f64);
        let slice = |place: usize| {
            let median = |quantile: usize| {
                Estimate::over(figures.iter().filter_map(|figures| figures.over_time.get(place)?[quantile]))
                    .map(|estimate| estimate.median)
            };
            let start_s = duration.as_seconds() * place as f64 / SLICES as f64;
            Slice { start_s, p50_s: median(0), p99_s: median(2) }
        };
        Some(Self {
            policy: policy.to_string(),
            requests: over(&|figures| figures.requests as f64)?,
            latency_s: QuantileEstimates::over(&figures.iter().map(|figures| figures.latency)),
            hedged: PopulationEstimate::over(figures.iter().map(|figures| figures.hedged))?,
            unhedged: PopulationEstimate::over(figures.iter().map(|figures| figures.unhedged))?,
            executions_per_request: over(&|figures| figures.executions_per_request)?,
            won_share: Estimate::over(figures.iter().filter_map(|figures| figures.won_share)),
            denied: DeniedEstimate {
                all: denied(&Denied::all)?,
                budget: denied(&|denied| denied.budget)?,
                per_request: denied(&|denied| denied.per_request)?,
                no_idle: denied(&|denied| denied.no_idle)?,
                overload: denied(&|denied| denied.overload)?,
            },
            partial_share: over(&|figures| figures.partial_share)?,
            failed_share: over(&|figures| figures.failed_share)?,
            over_time: (0..SLICES).map(slice).collect(),
        })
    }
}

impl PopulationEstimate {
    fn over(parts: impl Iterator<Item = Part> + Clone) -> Option<Self> {
        Some(Self {
            share: Estimate::over(parts.clone().map(|part| part.share))?,
            latency_s: QuantileEstimates::over(&parts.map(|part| part.latency)),
        })
    }
}

impl QuantileEstimates {
    fn over(quantiles: &(impl Iterator<Item = Quantiles> + Clone)) -> Self {
        let [p50, p95, p99, p999] = std::array::from_fn::<_, { QUANTILES.len() }, _>(|place| {
            Estimate::over(quantiles.clone().filter_map(|quantiles| quantiles[place]))
        });
        Self { p50, p95, p99, p999 }
    }
}

impl AtLoad {
    /// Sums up the runs at one load: for each policy its figures, one a seed.
    pub fn new(utilization: f64, policies: &[(Policy, Vec<Figures>)]) -> Self {
        let latency =
            |figures: &[Figures]| QuantileEstimates::over(&figures.iter().map(|figures| figures.latency));
        Self { utilization, latency_s: policies.iter().map(|(_, figures)| latency(figures)).collect() }
    }
}
