//! `observer analyze`: the same report, from recordings.

use std::{
    collections::HashMap,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use clap::{Args, ValueHint};
use observer_common::Role;

use super::{
    Context,
    arguments::{OutputArguments, ReportFormat, RoleChoice, SelectionArguments, StrictArguments},
    collected::Collected,
    failure::{Failure, Status},
    input::{Input, InputFormat, Reader},
    output::{self, Output},
    question::QuestionArguments,
};
use crate::{
    capture::{
        Opened,
        access_log::{self, AccessLogOptions},
        pcap::{self, PcapError, PcapOptions},
        table::{self, TableError, TableOptions},
    },
    exchange::{Exchange, Names},
    provenance::Provenance,
    report::Settlements,
};

/// Print the report of recordings: exchange logs (.parquet, .csv), packet captures (.pcap, .pcapng) or access logs
#[derive(Debug, Args)]
pub(super) struct AnalyzeArguments {
    /// The recordings, '-' for standard input; several are taken together
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// What the files are; 'auto' looks at how they begin
    #[arg(long, value_name = "FORMAT", env = "OBSERVER_FROM", default_value = "auto")]
    from: InputFormat,
    /// Leave out bad rows of tables and access logs and count them, instead of giving up
    #[arg(long, env = "OBSERVER_SKIP_BAD_ROWS")]
    skip_bad_rows: bool,
    #[command(flatten)]
    selection: SelectionArguments,
    #[command(flatten)]
    question: QuestionArguments,
    #[command(flatten)]
    output: OutputArguments<ReportFormat>,
    #[command(flatten)]
    strict: StrictArguments,
}

pub(super) fn run(arguments: &AnalyzeArguments, context: &mut Context) -> Result<Status, Failure> {
    no_file_twice(&arguments.files)?;
    let mut collected = Collected::new(arguments.selection.filter()?, &arguments.question.settings());
    let output = Output::open(arguments.output.output.as_deref())?;
    let mut names = Names::default();
    let mut together: Option<Provenance> = None;
    let mut skipped_rows = 0;
    for file in &arguments.files {
        let mut exchanges = 0_u64;
        let console = &mut context.console;
        let mut sink = |exchange: &Exchange, names: &Names| {
            collected.take(exchange, names);
            exchanges += 1;
            if exchanges.is_multiple_of(1 << 16) {
                console.progress(|| format!("reading {}: {exchanges} exchanges so far", file.display()));
            }
        };
        let read = read(file, arguments, &mut names, &mut sink)?;
        for note in &read.notes {
            context.console.note(&format!("{}: {note}", file.display()));
        }
        skipped_rows += read.skipped_rows;
        together = Some(match together {
            None => read.provenance,
            Some(before) => before.and(read.provenance).ok_or_else(|| {
                Failure::Usage(anyhow!(
                    "'{}' was recorded by another clock than the files before it; analyze it by itself",
                    file.display()
                ))
            })?,
        });
    }
    context.console.clear_progress();
    let Some(provenance) = together else {
        return Err(Failure::Usage(anyhow!("no file is named; name a recording to analyze")));
    };
    let settled = &mut Settlements::default();
    let report = collected.into_report(&names, &provenance, skipped_rows, settled, &mut context.console);
    output.write_report(&report, arguments.output.format(), context.color)?;
    Ok(output::status(&report, arguments.strict.strict))
}

/// What one file said besides its exchanges.
struct Read {
    provenance: Provenance,
    notes: Vec<String>,
    skipped_rows: u64,
}

fn read(
    file: &Path,
    arguments: &AnalyzeArguments,
    names: &mut Names,
    sink: &mut dyn FnMut(&Exchange, &Names),
) -> Result<Read, Failure> {
    let Input { name, opened, reader } = Input::open(file, arguments.from)?;
    match reader {
        Reader::Table => {
            let options = TableOptions { skip_bad_rows: arguments.skip_bad_rows };
            let read = table::read_from(&name, opened, &options, names, sink)
                .map_err(|error| not_read(error, arguments.from))?;
            Ok(Read { provenance: read.provenance, notes: read.notes, skipped_rows: read.skipped_rows })
        }
        Reader::AccessLog(format) => {
            let options = AccessLogOptions { format, skip_bad_rows: arguments.skip_bad_rows };
            let read = access_log::read_from(&name, opened, &options, names, sink)?;
            Ok(Read { provenance: read.provenance, notes: read.notes, skipped_rows: read.skipped_rows })
        }
        Reader::Pcap => read_pcap(&name, opened, arguments.selection.role, names, sink),
    }
}

/// What is said of a table; where nothing told that it is one, also what else it may be.
fn not_read(error: TableError, said: InputFormat) -> Failure {
    match error {
        TableError::MissingColumns { .. } if said == InputFormat::Auto => Failure::Usage(anyhow!(
            "{error}; if it is something else, say with --from what: one of {}",
            InputFormat::names()
        )),
        error => error.into(),
    }
}

/// Refuses a file that is named twice: all of it would count double.
fn no_file_twice(files: &[PathBuf]) -> Result<(), Failure> {
    let mut seen: HashMap<(u64, u64), &Path> = HashMap::new();
    for file in files {
        // What cannot be looked at is told of when it is read; what is no file gives other bytes each time.
        let Some(found) = fs::metadata(file).ok().filter(Metadata::is_file) else { continue };
        if let Some(before) = seen.insert((found.dev(), found.ino()), file) {
            let (file, before) = (file.display(), before.display());
            return Err(Failure::Usage(anyhow!(
                "'{file}' is the same file as '{before}', and its exchanges would count twice: name it once"
            )));
        }
    }
    Ok(())
}

/// A capture shows both ends of a connection; where both are wanted, each is looked at by itself.
fn read_pcap(
    name: &Path,
    opened: Opened,
    role: RoleChoice,
    names: &mut Names,
    sink: &mut dyn FnMut(&Exchange, &Names),
) -> Result<Read, Failure> {
    let (first, second) = match role {
        RoleChoice::Client => (Role::Client, None),
        RoleChoice::Server => (Role::Server, None),
        RoleChoice::Both => (Role::Client, Some(Role::Server)),
    };
    let file = opened.into_file().map_err(|source| PcapError::Open { path: name.into(), source })?;
    let mut read = pcap::read_from(name, &file, &PcapOptions { role: first }, names, sink)?;
    if let Some(role) = second {
        let other_end = pcap::read_from(name, &file, &PcapOptions { role }, names, sink)?;
        if let Some(both) = read.provenance.clone().and(other_end.provenance) {
            read.provenance = both;
        }
    }
    Ok(Read { provenance: read.provenance, notes: read.notes, skipped_rows: 0 })
}
