//! Exchange logs in Parquet, by whichever of the common writers.

use std::{collections::BTreeMap, fs::File, path::Path, sync::Arc};

use arrow_schema::{DataType, Field as ArrowField, Schema};
use observer_common::{Nanoseconds, Timestamp};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    errors::ParquetError,
    file::metadata::ParquetMetaData,
};

use super::{DEFAULT_SERVICE, Place, TableError, TableOptions, TableRead, header::Header};
use crate::{
    exchange::{Exchange, Names},
    printable::excerpt,
    recording::{
        columns::{COLUMNS, Column, Field},
        metadata,
    },
};

mod decode;
mod quiet;

/// Rows that are decoded at a time: few enough to stay in a core's cache.
const BATCH_ROWS: usize = 2_048;

pub(super) fn read(
    path: &Path,
    file: File,
    options: TableOptions,
    names: &mut Names,
    sink: &mut dyn FnMut(&Exchange, &Names),
) -> Result<TableRead, TableError> {
    let not_parquet =
        |reason: &dyn ToString| TableError::NotParquet { path: path.to_owned(), reason: reason.to_string() };
    // The types as Parquet has them; what another program wished for in memory does not matter.
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let found = caught(|| ArrowReaderMetadata::load(&file, plain)).map_err(|error| not_parquet(&error))?;
    let provenance = metadata::from_pairs(&pairs(found.metadata()))
        .map_err(|source| TableError::Metadata { path: path.to_owned(), source })?;
    let schema = found.schema();
    let header = Header::of(path, schema.fields().iter().map(|field| field.name().as_str()))?;
    for &(place, index) in &header.columns {
        check_type(path, &COLUMNS[index], schema.field(place).data_type())?;
    }

    let with_dictionaries = ArrowReaderOptions::new().with_schema(Arc::new(dictionaries(schema)));
    let metadata = ArrowReaderMetadata::try_new(found.metadata().clone(), with_dictionaries)
        .map_err(|error| not_parquet(&error))?;
    let mask =
        ProjectionMask::roots(metadata.parquet_schema(), header.columns.iter().map(|(place, _)| *place));
    let mut batches = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(|error| not_parquet(&error))?;

    let default = names.id(DEFAULT_SERVICE);
    let template = Exchange::new(Timestamp(0), default, default, Nanoseconds(0));
    let mut read = TableRead { provenance, notes: header.notes, rows: 0, skipped_rows: 0 };
    let mut exchanges = Vec::with_capacity(BATCH_ROWS);
    let mut faults = Vec::new();
    while let Some(batch) = caught(|| Ok(batches.next().transpose()?)).map_err(|error| not_parquet(&error))? {
        exchanges.clear();
        exchanges.resize(batch.num_rows(), template);
        faults.clear();
        for (array, &(_, index)) in batch.columns().iter().zip(&header.columns) {
            decode::column(&COLUMNS[index], array.as_ref(), &mut exchanges, names, &mut faults);
        }
        decode::contradictions(&exchanges, &mut faults);
        faults.sort_by_key(|fault: &decode::Fault| fault.row);
        if let Some(fault) = faults.first()
            && !options.skip_bad_rows
        {
            return Err(TableError::BadValue {
                path: path.to_owned(),
                place: Place::Row(read.rows + fault.row as u64 + 1),
                column: fault.column.to_owned(),
                found: fault.found.as_deref().map(|found| excerpt(found).into_owned()),
                expected: fault.expected,
            });
        }
        let mut bad_rows = faults.iter().map(|fault| fault.row).peekable();
        for (row, exchange) in exchanges.iter().enumerate() {
            let mut skip = false;
            while bad_rows.next_if_eq(&row).is_some() {
                skip = true;
            }
            if skip {
                read.skipped_rows += 1;
            } else {
                sink(exchange, names);
                read.rows += 1;
            }
        }
    }
    Ok(read)
}

fn pairs(metadata: &ParquetMetaData) -> BTreeMap<String, String> {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect()
}

/// What `decode` gives. The decoder panics on some damaged files; nothing of it is used afterwards.
fn caught<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    quiet::catch(decode).unwrap_or_else(|| Err(ParquetError::General("a page contradicts itself".to_owned())))
}

/// The same schema, with every text kept once in a dictionary.
fn dictionaries(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 => {
            let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
            Arc::new(ArrowField::clone(field).with_data_type(dictionary))
        }
        _ => field.clone(),
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// Whether a column's type in the file can hold its values.
fn check_type(path: &Path, column: &Column, found: &DataType) -> Result<(), TableError> {
    let fits = match column.field {
        Field::RequiredNumber(..) | Field::Number(..) | Field::SmallNumber(..) => {
            // Floating point is what some programs make of whole numbers with gaps.
            found.is_integer() || matches!(found, DataType::Float32 | DataType::Float64)
        }
        Field::Failed => matches!(found, DataType::Boolean),
        _ => matches!(found, DataType::Utf8),
    };
    if fits || matches!(found, DataType::Null) {
        return Ok(());
    }
    Err(TableError::ColumnType {
        path: path.to_owned(),
        column: column.name,
        found: excerpt(&found.to_string()).into_owned(),
        expected: column.expected(),
    })
}
