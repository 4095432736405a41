//! `observer schema`: prints the JSON schemas that the outputs fulfil.

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::{
    failure::{Failure, Status},
    output::Output,
};
use crate::{
    report::{Report, json, schema},
    simulation::{presets::PresetComparison, results::Comparison},
};

/// Print the JSON schema of an output
#[derive(Debug, Args)]
pub(super) struct SchemaArguments {
    /// Which output
    of: Published,
}

/// An output with a published schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Published {
    /// What report and analyze print
    Report,
    /// What simulate prints
    Simulation,
    /// What simulate --preset prints
    Preset,
}

pub(super) fn run(arguments: &SchemaArguments) -> Result<Status, Failure> {
    let schema = match arguments.of {
        Published::Report => schema::of::<Report>(),
        Published::Simulation => schema::of::<Comparison>(),
        Published::Preset => schema::of::<PresetComparison>(),
    };
    let text = json::render(&schema, true)
        .map_err(|error| Failure::Running(anyhow!("the schema cannot become JSON: {error}")))?;
    Output::Standard.write(&text)?;
    Ok(Status::Done)
}
