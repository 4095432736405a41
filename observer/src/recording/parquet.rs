//! Exchange logs in Parquet, written by row groups of bounded size.

use std::{collections::HashMap, fmt, path::Path, sync::Arc};

use arrow_array::{
    ArrayRef, RecordBatch,
    builder::{BooleanBuilder, StringDictionaryBuilder, UInt32Builder, UInt64Builder},
    types::Int32Type,
};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema, SchemaRef};
use parquet::{
    arrow::ArrowWriter,
    basic::Compression,
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties},
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

/// Rows that gather before they are encoded.
const BATCH_ROWS: usize = 8_192;
/// Rows of one row group: what a reader must hold at a time, and what this writer holds encoded.
const ROW_GROUP_ROWS: usize = 65_536;

/// A Parquet recording that is being written.
pub struct ParquetRecorder {
    writer: ArrowWriter<PendingFile>,
    columns: Vec<ColumnBuilder>,
    schema: SchemaRef,
    rows: usize,
}

impl fmt::Debug for ParquetRecorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ParquetRecorder").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl ParquetRecorder {
    /// Begins a recording that will appear at `path`.
    pub fn create(path: &Path) -> Result<Self, RecordingError> {
        let output = PendingFile::create(path)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_created_by(concat!("observer ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        // Readers shall see plain texts; that they are encoded by dictionary is nobody's business.
        let file_schema = schema(data_type);
        let writer = ArrowWriter::try_new(output, file_schema, Some(properties))
            .map_err(|error| RecordingError::Create { path: path.to_owned(), source: error.into() })?;
        Ok(Self {
            writer,
            columns: COLUMNS.iter().map(ColumnBuilder::of).collect(),
            schema: schema(batch_data_type),
            rows: 0,
        })
    }

    /// Where it is written.
    pub(super) fn output(&self) -> &PendingFile {
        self.writer.inner()
    }

    /// Adds one exchange.
    pub fn write(&mut self, exchange: &Exchange, names: &Names) -> Result<(), RecordingError> {
        let result = self.append(exchange, names);
        result.map_err(|error| self.writer.inner().error(error.into()))
    }

    fn append(&mut self, exchange: &Exchange, names: &Names) -> Result<(), ParquetError> {
        for (column, builder) in COLUMNS.iter().zip(&mut self.columns) {
            builder.append(column, exchange, names)?;
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.encode() } else { Ok(()) }
    }

    fn encode(&mut self) -> Result<(), ParquetError> {
        let arrays = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        self.rows = 0;
        self.writer.write(&RecordBatch::try_new(self.schema.clone(), arrays)?)
    }

    /// Adds the metadata, and lets the file appear.
    pub fn finish(mut self, provenance: &Provenance) -> Result<(), RecordingError> {
        let result = self.close(provenance);
        result.map_err(|error| self.writer.inner().error(error.into()))?;
        let path = self.writer.inner().path().to_owned();
        self.writer
            .into_inner()
            .map_err(|error| RecordingError::Write { path, source: error.into() })?
            .persist()
    }

    fn close(&mut self, provenance: &Provenance) -> Result<(), ParquetError> {
        self.encode()?;
        self.writer.flush()?;
        let pairs = metadata::to_pairs(provenance).map_err(|error| ParquetError::External(error.into()))?;
        for (key, value) in pairs {
            self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        Ok(())
    }
}

/// The log's schema, with units and meanings as metadata of the columns.
fn schema(data_type: impl Fn(&Column) -> DataType) -> SchemaRef {
    let fields = COLUMNS.iter().map(|column| {
        let optional =
            matches!(column.field, Field::Number(..) | Field::SmallNumber(..) | Field::OptionalText(..));
        let unit = column.unit.map(|unit| ("unit".to_owned(), unit.to_owned()));
        let meaning = ("description".to_owned(), column.meaning.to_owned());
        ArrowField::new(column.name, data_type(column), optional)
            .with_metadata(unit.into_iter().chain([meaning]).collect::<HashMap<_, _>>())
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A column's type in the file.
fn data_type(column: &Column) -> DataType {
    match column.field {
        Field::RequiredNumber(..) | Field::Number(..) => DataType::UInt64,
        Field::SmallNumber(..) => DataType::UInt32,
        Field::Failed => DataType::Boolean,
        _ => DataType::Utf8,
    }
}

/// A column's type in memory: every text is kept once a batch.
fn batch_data_type(column: &Column) -> DataType {
    match data_type(column) {
        DataType::Utf8 => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        other => other,
    }
}

/// The values of one column that are not encoded yet.
enum ColumnBuilder {
    Number(UInt64Builder),
    SmallNumber(UInt32Builder),
    Text(StringDictionaryBuilder<Int32Type>),
    Boolean(BooleanBuilder),
}

impl ColumnBuilder {
    fn of(column: &Column) -> Self {
        match data_type(column) {
            DataType::UInt64 => Self::Number(UInt64Builder::with_capacity(BATCH_ROWS)),
            DataType::UInt32 => Self::SmallNumber(UInt32Builder::with_capacity(BATCH_ROWS)),
            DataType::Boolean => Self::Boolean(BooleanBuilder::with_capacity(BATCH_ROWS)),
            _ => Self::Text(StringDictionaryBuilder::with_capacity(BATCH_ROWS, 64, 2_048)),
        }
    }

    fn append(&mut self, column: &Column, exchange: &Exchange, names: &Names) -> Result<(), ArrowError> {
        match (self, column.field) {
            (Self::Number(builder), Field::RequiredNumber(get, _)) => builder.append_value(get(exchange)),
            (Self::Number(builder), Field::Number(get, _)) => builder.append_option(get(exchange)),
            (Self::SmallNumber(builder), Field::SmallNumber(get, _)) => builder.append_option(get(exchange)),
            (Self::Text(builder), Field::RequiredText(get, _) | Field::DefaultedText(get, _)) => {
                builder.append(names.text(get(exchange)))?;
            }
            (Self::Text(builder), Field::OptionalText(get, _)) => match get(exchange) {
                Some(id) => {
                    builder.append(names.text(id))?;
                }
                None => builder.append_null(),
            },
            (Self::Text(builder), Field::Outcome) => {
                builder.append(exchange.outcome.name())?;
            }
            (Self::Text(builder), Field::Role) => {
                builder.append(exchange.role.name())?;
            }
            (Self::Boolean(builder), Field::Failed) => builder.append_value(exchange.failed),
            // `ColumnBuilder::of` made this builder for this very column.
            (_, _) => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Number(builder) => Arc::new(builder.finish()),
            Self::SmallNumber(builder) => Arc::new(builder.finish()),
            Self::Text(builder) => Arc::new(builder.finish()),
            Self::Boolean(builder) => Arc::new(builder.finish()),
        }
    }
}
