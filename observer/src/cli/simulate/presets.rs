//! Published cases against their simulation.

use anyhow::anyhow;
use rayon::prelude::*;

use super::{Context, Failure, Output, SimulateArguments, running::Seeds};
use crate::simulation::presets::{self, Case, Preset, PresetComparison};

pub(super) fn run(name: &str, arguments: &SimulateArguments, context: &Context) -> Result<(), Failure> {
    let preset = Preset::named(name)
        .ok_or_else(|| Failure::Usage(anyhow!("there is no preset '{name}'; '--preset list' names them")))?;
    let output = Output::open(arguments.output.output.as_deref())?;
    let seeds = Seeds { first: arguments.seed, count: arguments.seeds };
    let measure = |case: &Case| {
        seeds.simulate(&case.system, &case.policy, case.extent, |outcome| case.measured(outcome))
    };
    let measured: Vec<_> = preset.cases.par_iter().map(measure).collect();
    let comparison = PresetComparison::new(&preset, seeds.first, &measured);
    output.write_either(
        |color| presets::render(&comparison, color),
        &comparison,
        arguments.output.format(),
        context.color,
    )
}
