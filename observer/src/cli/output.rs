//! Where a result goes: to standard output, or to a file that appears when it is complete.

use std::{
    io::{self, ErrorKind, IsTerminal, Write},
    path::Path,
};

use anyhow::anyhow;
use serde::Serialize;

use super::{
    arguments::{ColorChoice, Format, ReportFormat},
    failure::{Failure, Status},
};
use crate::{
    recording::PendingFile,
    report::{
        Report, json, markdown,
        text::{self, Color},
    },
};

/// An open output.
#[derive(Debug)]
pub(super) enum Output {
    /// Standard output.
    Standard,
    /// A file that is not there yet, or something else that is: a named pipe, a terminal, `/dev/null`.
    File(PendingFile),
}

impl Output {
    /// Opens the output: a file that cannot be written is told before anything is observed.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        match path.filter(|path| *path != Path::new("-")) {
            None => Ok(Self::Standard),
            Some(path) => Ok(Self::File(PendingFile::create(path)?)),
        }
    }

    /// The file, where it is none of standard output's.
    pub(super) fn file(&self) -> Option<&PendingFile> {
        match self {
            Self::Standard => None,
            Self::File(file) => Some(file),
        }
    }

    /// Writes the last report in the wanted format, and lets the file appear.
    pub(super) fn write_report(
        mut self,
        report: &Report,
        format: ReportFormat,
        color: ColorChoice,
    ) -> Result<(), Failure> {
        self.add_report(report, format, color)?;
        self.close()
    }

    /// Writes one of several reports.
    pub(super) fn add_report(
        &mut self,
        report: &Report,
        format: ReportFormat,
        color: ColorChoice,
    ) -> Result<(), Failure> {
        let format = match format {
            ReportFormat::Markdown => return self.add(&markdown::render(report)),
            ReportFormat::Text => Format::Text,
            ReportFormat::Json => Format::Json,
            ReportFormat::Jsonl => Format::Jsonl,
        };
        self.add_either(|color| text::render(report, color), report, format, color)
    }

    /// Writes a result as text or as JSON, and lets the file appear.
    pub(super) fn write_either(
        mut self,
        text: impl FnOnce(Color) -> String,
        model: &impl Serialize,
        format: Format,
        color: ColorChoice,
    ) -> Result<(), Failure> {
        self.add_either(text, model, format, color)?;
        self.close()
    }

    fn add_either(
        &mut self,
        text: impl FnOnce(Color) -> String,
        model: &impl Serialize,
        format: Format,
        color: ColorChoice,
    ) -> Result<(), Failure> {
        let indented = matches!(format, Format::Json) && self.is_terminal();
        let text = match format {
            Format::Text => text(color.on(self.is_terminal())),
            Format::Json | Format::Jsonl => json::render(model, indented)
                .map_err(|error| Failure::Running(anyhow!("the result cannot become JSON: {error}")))?,
        };
        self.add(&text)
    }

    /// Writes all of the result, and lets the file appear.
    pub(super) fn write(mut self, text: &str) -> Result<(), Failure> {
        self.add(text)?;
        self.close()
    }

    fn add(&mut self, text: &str) -> Result<(), Failure> {
        match self {
            Self::Standard => {
                let mut standard = io::stdout().lock();
                let written = standard.write_all(text.as_bytes()).and_then(|()| standard.flush());
                written.map_err(|error| write_failure("standard output", &error))
            }
            Self::File(file) => {
                let place = format!("'{}'", file.path().display());
                file.write_all(text.as_bytes()).map_err(|error| write_failure(&place, &error))
            }
        }
    }

    fn close(self) -> Result<(), Failure> {
        match self {
            Self::Standard => Ok(()),
            Self::File(file) => Ok(file.persist()?),
        }
    }

    /// Whether a person looks at it right away.
    pub(super) fn is_terminal(&self) -> bool {
        match self {
            Self::Standard => io::stdout().is_terminal(),
            Self::File(file) => file.is_terminal(),
        }
    }
}

fn write_failure(place: &str, error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => {
            Failure::Running(anyhow!("cannot write to {place}: {error}; choose another place with --output"))
        }
    }
}

/// How the command ended: degraded only counts if the user is strict.
pub(super) fn status(report: &Report, strict: bool) -> Status {
    let source = &report.source;
    let complete = source.degraded.is_empty() && source.lost_events == 0 && source.skipped_rows == 0;
    if strict && !complete { Status::Degraded } else { Status::Done }
}
