//! Exchange logs in CSV (RFC 4180), with the metadata in leading `# key: value` lines.

use std::{
    fs::File,
    io::{self, BufWriter, Seek, Write},
    path::Path,
};

use super::{
    RecordingError,
    columns::{COLUMNS, Column, Field},
    metadata,
    output::PendingFile,
};
use crate::{
    exchange::{Exchange, Names},
    provenance::Provenance,
};

/// A CSV recording that is being written.
///
/// Its metadata stands at the top and is known only at the end, so rows gather in a file without a name first.
#[derive(Debug)]
pub struct CsvRecorder {
    rows: csv::Writer<BufWriter<File>>,
    output: PendingFile,
    /// The digits of one number, reused.
    digits: Vec<u8>,
}

impl CsvRecorder {
    /// Begins a recording that will appear at `path`.
    pub fn create(path: &Path) -> Result<Self, RecordingError> {
        let output = PendingFile::create(path)?;
        let rows =
            output.scratch().map_err(|source| RecordingError::Create { path: path.to_owned(), source })?;
        let mut rows = csv::Writer::from_writer(BufWriter::new(rows));
        rows.write_record(COLUMNS.map(|column| column.name)).map_err(|error| output.error(error.into()))?;
        Ok(Self { rows, output, digits: Vec::new() })
    }

    /// Where it is written.
    pub(super) fn output(&self) -> &PendingFile {
        &self.output
    }

    /// Adds one exchange.
    pub fn write(&mut self, exchange: &Exchange, names: &Names) -> Result<(), RecordingError> {
        self.write_row(exchange, names).map_err(|error| self.output.error(error.into()))
    }

    fn write_row(&mut self, exchange: &Exchange, names: &Names) -> Result<(), csv::Error> {
        for column in &COLUMNS {
            self.digits.clear();
            let value = value_of(column, exchange, names, &mut self.digits)?;
            self.rows.write_field(value)?;
        }
        self.rows.write_record(None::<&[u8]>)
    }

    /// Puts metadata and rows together, and lets the file appear.
    pub fn finish(self, provenance: &Provenance) -> Result<(), RecordingError> {
        let Self { rows, mut output, .. } = self;
        assemble(rows, &mut output, provenance).map_err(|error| output.error(error))?;
        output.persist()
    }
}

fn assemble(
    rows: csv::Writer<BufWriter<File>>,
    output: &mut PendingFile,
    provenance: &Provenance,
) -> io::Result<()> {
    let mut rows = rows
        .into_inner()
        .map_err(|error| io::Error::new(error.error().kind(), error.error().to_string()))?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    rows.rewind()?;
    let mut head = Vec::new();
    for (key, value) in metadata::to_pairs(provenance)? {
        writeln!(head, "# {key}: {value}")?;
    }
    output.write_all(&head)?;
    io::copy(&mut rows, output.file_mut())?;
    Ok(())
}

/// A column's value as text, empty where there is none.
fn value_of<'a>(
    column: &Column,
    exchange: &Exchange,
    names: &'a Names,
    digits: &'a mut Vec<u8>,
) -> io::Result<&'a [u8]> {
    let number = match column.field {
        Field::RequiredNumber(get, _) => Some(get(exchange)),
        Field::Number(get, _) => get(exchange),
        Field::SmallNumber(get, _) => get(exchange).map(u64::from),
        Field::RequiredText(get, _) | Field::DefaultedText(get, _) => {
            return Ok(names.text(get(exchange)).as_bytes());
        }
        Field::OptionalText(get, _) => return Ok(get(exchange).map_or("", |id| names.text(id)).as_bytes()),
        Field::Outcome => return Ok(exchange.outcome.name().as_bytes()),
        Field::Role => return Ok(exchange.role.name().as_bytes()),
        Field::Failed => return Ok(if exchange.failed { b"true" } else { b"false" }),
    };
    if let Some(number) = number {
        write!(digits, "{number}")?;
    }
    Ok(digits)
}
