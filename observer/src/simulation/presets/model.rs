//! What was published against what is simulated. Its names are published by `observer schema preset`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Preset, Row, measure::Unit};
use crate::simulation::Estimate;

/// The version of the model: it changes when a field is removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// A published case, simulated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PresetComparison {
    /// Changes when a field is removed or changes its meaning.
    pub schema_version: u32,
    /// The preset.
    pub preset: String,
    /// What it is about.
    pub about: String,
    /// Where it was published.
    pub source: String,
    /// What must be known to read it.
    pub remarks: Vec<String>,
    /// The first seed; the others follow it.
    pub first_seed: u64,
    /// How many seeds.
    pub seeds: u32,
    /// What was simulated.
    pub cases: Vec<CaseResult>,
}

/// One system with one policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CaseResult {
    /// What tells it from the others.
    pub case: String,
    /// The policy, as it is written on the command line.
    pub policy: String,
    /// How long a call takes to serve, as it is written on the command line.
    pub service: String,
    /// What is compared.
    pub figures: Vec<FigureResult>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FigureResult {
    /// What it is.
    pub name: String,
    /// In what it is counted.
    pub unit: Unit,
    /// What was published; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// What follows from a formula; absent where none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<f64>,
    /// What the simulation says.
    pub simulated: Estimate,
    /// The share of seeds that give no more than what was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds_up_to_published: Option<f64>,
}

impl PresetComparison {
    /// Puts together what was measured: for each case and seed a figure for each row.
    pub fn new(preset: &Preset, first_seed: u64, measured: &[Vec<Vec<f64>>]) -> Self {
        let cases = preset.cases.iter().zip(measured).map(|(case, seeds)| {
            let figure = |(place, row): (usize, &Row)| {
                FigureResult::over(row, &seeds.iter().map(|seed| seed[place]).collect::<Vec<_>>())
            };
            CaseResult {
                case: case.label.clone(),
                policy: case.policy.to_string(),
                service: case.system.service.to_string(),
                figures: case.rows.iter().enumerate().filter_map(figure).collect(),
            }
        });
        Self {
            schema_version: SCHEMA_VERSION,
            preset: preset.name.into(),
            about: preset.about.into(),
            source: preset.source.into(),
            remarks: preset.remarks.iter().map(|remark| (*remark).into()).collect(),
            first_seed,
            seeds: measured.first().map_or(0, |seeds| u32::try_from(seeds.len()).unwrap_or(u32::MAX)),
            cases: cases.collect(),
        }
    }
}

impl FigureResult {
    fn over(row: &Row, seeds: &[f64]) -> Option<Self> {
        let up_to = |published: f64| {
            seeds.iter().filter(|value| **value <= published).count() as f64 / seeds.len() as f64
        };
        Some(Self {
            name: row.measure.name(),
            unit: row.measure.unit(),
            published: row.published,
            exact: row.exact,
            simulated: Estimate::over(seeds.iter().copied())?,
            seeds_up_to_published: row.published.map(up_to),
        })
    }
}
