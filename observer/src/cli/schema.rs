//! `observer schema`: prints the JSON schemas that the outputs fulfil.

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use super::{
    failure::{Failure, Status},
    output::Output,
};
use crate::report::schema;

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
}

pub(super) fn run(arguments: &SchemaArguments) -> Result<Status, Failure> {
    let schema = match arguments.of {
        Published::Report => schema::schema(),
    };
    let mut text = serde_json::to_string_pretty(&schema)
        .map_err(|error| Failure::Running(anyhow!("the schema cannot become JSON: {error}")))?;
    text.push('\n');
    Output::Standard.write(&text)?;
    Ok(Status::Done)
}
