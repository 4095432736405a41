//! Exchange logs in CSV: RFC 4180, a header, and optional `# key: value` lines before it.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use csv::{ByteRecord, ReaderBuilder, Trim};
use observer_common::{Nanoseconds, Timestamp};

use super::{
    Contradiction, DEFAULT_SERVICE, Place, TableError, TableOptions, TableRead, contradiction, header::Header,
};
use crate::{
    capture::budget::{Bounded, Budget},
    exchange::{Exchange, NameId, Names},
    printable::excerpt,
    recording::{
        columns::{COLUMNS, Column, Field, outcome_of, role_of},
        metadata,
    },
};

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

pub(super) fn read(
    path: &Path,
    source: impl Read,
    options: TableOptions,
    names: &mut Names,
    sink: &mut dyn FnMut(&Exchange, &Names),
) -> Result<TableRead, TableError> {
    let budget = Budget::new();
    let failed = |line: u64, source: io::Error| {
        let path = path.to_owned();
        if budget.is_spent() {
            TableError::TooLong { path, place: Place::Line(line) }
        } else {
            TableError::Open { path, source }
        }
    };
    let mut input = BufReader::with_capacity(1 << 16, Bounded { source, budget: budget.clone() });
    let (pairs, lines_before) = leading_comments(&mut input).map_err(|error| failed(1, error))?;
    budget.renew();
    let first_line = lines_before + 1;
    if input.fill_buf().map_err(|error| failed(first_line, error))?.is_empty() {
        return Err(TableError::Empty { path: path.to_owned() });
    }
    let provenance = metadata::from_pairs(&pairs)
        .map_err(|source| TableError::Metadata { path: path.to_owned(), source })?;

    let mut reader = ReaderBuilder::new().flexible(true).trim(Trim::Headers).from_reader(input);
    let titles = reader.byte_headers().map_err(|error| failed(first_line, error.into()))?.clone();
    let titles: Vec<String> =
        titles.iter().map(|title| String::from_utf8_lossy(title).into_owned()).collect();
    let header = Header::of(path, titles.iter().map(String::as_str))?;
    let rows = Rows { path, header: &header, fields: titles.len(), default: names.id(DEFAULT_SERVICE) };

    let mut read = TableRead { provenance, notes: Vec::new(), rows: 0, skipped_rows: 0 };
    let mut record = ByteRecord::new();
    loop {
        budget.renew();
        let begins = reader.position().line() + lines_before;
        if !reader.read_byte_record(&mut record).map_err(|error| failed(begins, error.into()))? {
            break;
        }
        let line = record.position().map_or(0, csv::Position::line) + lines_before;
        match rows.exchange(&record, Place::Line(line), names) {
            Ok(exchange) => {
                sink(&exchange, names);
                read.rows += 1;
            }
            Err(_) if options.skip_bad_rows => read.skipped_rows += 1,
            Err(error) => return Err(error),
        }
    }
    read.notes = header.notes;
    Ok(read)
}

/// Takes the `# key: value` lines from the beginning of `input`, and counts all lines taken.
fn leading_comments(input: &mut impl BufRead) -> io::Result<(BTreeMap<String, String>, u64)> {
    let mut pairs = BTreeMap::new();
    let mut lines = 0;
    if input.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        input.consume(BYTE_ORDER_MARK.len());
    }
    while input.fill_buf()?.first() == Some(&b'#') {
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line)?;
        lines += 1;
        let line = String::from_utf8_lossy(&line);
        if let Some((key, value)) = line[1..].split_once(':') {
            pairs.insert(key.trim().to_owned(), value.trim().to_owned());
        }
    }
    Ok((pairs, lines))
}

/// What the rows of one file have in common.
struct Rows<'a> {
    path: &'a Path,
    header: &'a Header,
    /// How many fields a row must have.
    fields: usize,
    /// The service of rows that name none.
    default: NameId,
}

impl Rows<'_> {
    fn exchange(&self, record: &ByteRecord, place: Place, names: &mut Names) -> Result<Exchange, TableError> {
        if record.len() != self.fields {
            return Err(TableError::FieldCount {
                path: self.path.to_owned(),
                place,
                found: record.len(),
                expected: self.fields,
            });
        }
        let mut exchange = Exchange::new(Timestamp(0), self.default, self.default, Nanoseconds(0));
        for &(field, index) in &self.header.columns {
            let (column, value) = (&COLUMNS[index], &record[field]);
            set(column, value, &mut exchange, names).map_err(|expected| TableError::BadValue {
                path: self.path.to_owned(),
                place,
                column: column.name.to_owned(),
                found: (!value.is_empty()).then(|| excerpt(&String::from_utf8_lossy(value)).into_owned()),
                expected,
            })?;
        }
        match contradiction(&exchange) {
            None => Ok(exchange),
            Some(Contradiction { column, found, expected }) => Err(TableError::BadValue {
                path: self.path.to_owned(),
                place,
                column: column.to_owned(),
                found: Some(found),
                expected,
            }),
        }
    }
}

/// Takes over one value, or says what was expected.
fn set(
    column: &Column,
    value: &[u8],
    exchange: &mut Exchange,
    names: &mut Names,
) -> Result<(), &'static str> {
    let expected = column.expected();
    let text = str::from_utf8(value).map_err(|_| "a text in UTF-8")?;
    if text.is_empty() {
        return if column.is_required() { Err(expected) } else { Ok(()) };
    }
    match column.field {
        Field::RequiredNumber(_, set) | Field::Number(_, set) => {
            set(exchange, text.trim().parse().map_err(|_| expected)?);
        }
        Field::SmallNumber(_, set) => set(exchange, text.trim().parse().map_err(|_| expected)?),
        Field::RequiredText(_, set) | Field::DefaultedText(_, set) | Field::OptionalText(_, set) => {
            set(exchange, names.id(text));
        }
        Field::Outcome => exchange.outcome = outcome_of(text).ok_or(expected)?,
        Field::Role => exchange.role = role_of(text).ok_or(expected)?,
        Field::Failed => {
            exchange.failed = match text {
                "true" | "True" | "TRUE" | "1" => true,
                "false" | "False" | "FALSE" | "0" => false,
                _ => return Err(expected),
            };
        }
    }
    Ok(())
}
