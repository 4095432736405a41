//! Reads an exchange log as any other program would: by its column names.

use std::{collections::HashMap, fs::File, path::Path};

use anyhow::{Context as _, Result, bail};
use arrow_array::{
    Array, ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array,
    cast::AsArray as _,
    types::{Int32Type, UInt32Type, UInt64Type},
};
use observer_common::{Nanoseconds, Timestamp};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// One row of the log: what the tests look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The socket's cookie.
    pub connection: u64,
    /// First request byte.
    pub start: Timestamp,
    /// Until the last request byte.
    pub sent: Option<Nanoseconds>,
    /// Until the first response byte.
    pub latency: Nanoseconds,
    /// Until the last response byte.
    pub complete: Option<Nanoseconds>,
    /// From the first response byte until it was read.
    pub read_lag: Option<Nanoseconds>,
    /// How it ended.
    pub outcome: String,
    /// `client` or `server`.
    pub role: String,
    /// The backend.
    pub instance: String,
    /// Payload of the request.
    pub request_bytes: u64,
    /// Payload of the response.
    pub response_bytes: u64,
    /// Segments seen again.
    pub retransmits: u32,
    /// The observed process.
    pub pid: Option<u32>,
    /// Its name.
    pub comm: Option<String>,
    /// Who asked.
    pub client: Option<String>,
    /// What the client calls the backends.
    pub service: String,
    /// What the client dialled, where that is not the instance.
    pub service_address: Option<String>,
    /// The protocol, where it was recognised.
    pub protocol: Option<String>,
    /// What kind of request it was.
    pub class: Option<String>,
    /// The protocol's own status.
    pub status: Option<String>,
    /// Whether the answer is a failure.
    pub failed: bool,
}

impl Observed {
    /// When the first response byte could be read.
    pub fn first(&self) -> Timestamp {
        Timestamp(self.start.0 + self.latency.0)
    }

    /// When the last response byte came.
    pub fn last(&self) -> Option<Timestamp> {
        self.complete.map(|complete| Timestamp(self.start.0 + complete.0))
    }

    /// When the last request byte left or arrived.
    pub fn sent_at(&self) -> Option<Timestamp> {
        self.sent.map(|sent| Timestamp(self.start.0 + sent.0))
    }

    /// When the application first looked at the response.
    pub fn read_at(&self) -> Option<Timestamp> {
        self.read_lag.map(|lag| Timestamp(self.first().0 + lag.0))
    }
}

/// Reads every row of a Parquet recording.
pub fn read(path: &Path) -> Result<Vec<Observed>> {
    let file = File::open(path).with_context(|| format!("open the recording {}", path.display()))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .with_context(|| format!("read the recording {}", path.display()))?;
    let mut rows = Vec::new();
    for batch in reader {
        rows_of(&batch?, &mut rows)?;
    }
    Ok(rows)
}

/// Groups rows by connection, each group in the order of its requests.
pub fn by_connection(rows: Vec<Observed>) -> HashMap<u64, Vec<Observed>> {
    let mut connections: HashMap<u64, Vec<Observed>> = HashMap::new();
    for row in rows {
        connections.entry(row.connection).or_default().push(row);
    }
    for rows in connections.values_mut() {
        rows.sort_by_key(|row| row.start);
    }
    connections
}

fn rows_of(batch: &RecordBatch, rows: &mut Vec<Observed>) -> Result<()> {
    let wide = |name| -> Result<&UInt64Array> {
        column(batch, name)?.as_primitive_opt::<UInt64Type>().with_context(|| format!("{name} is not u64"))
    };
    let narrow = |name| -> Result<&UInt32Array> {
        column(batch, name)?.as_primitive_opt::<UInt32Type>().with_context(|| format!("{name} is not u32"))
    };
    let (connection, start, latency) = (wide("connection")?, wide("start_ns")?, wide("latency_ns")?);
    let (sent, complete, read_lag) = (wide("sent_ns")?, wide("complete_ns")?, wide("read_lag_ns")?);
    let (request_bytes, response_bytes) = (wide("request_bytes")?, wide("response_bytes")?);
    let (retransmits, pid) = (narrow("retransmits")?, narrow("pid")?);
    let required = |name| -> Result<Vec<String>> {
        texts(batch, name)?.into_iter().collect::<Option<_>>().with_context(|| format!("{name} is null"))
    };
    let (outcome, role) = (required("outcome")?, required("role")?);
    let (instance, service) = (required("instance")?, required("service")?);
    let (comm, client) = (texts(batch, "comm")?, texts(batch, "client")?);
    let service_address = texts(batch, "service_address")?;
    let (protocol, class, status) =
        (texts(batch, "protocol")?, texts(batch, "class")?, texts(batch, "status")?);
    let failed = column(batch, "failed")?.as_boolean_opt().context("failed is not true or false")?;
    for row in 0..batch.num_rows() {
        let duration = |column: &UInt64Array| (!column.is_null(row)).then(|| Nanoseconds(column.value(row)));
        rows.push(Observed {
            connection: connection.value(row),
            start: Timestamp(start.value(row)),
            sent: duration(sent),
            latency: Nanoseconds(latency.value(row)),
            complete: duration(complete),
            read_lag: duration(read_lag),
            outcome: outcome[row].clone(),
            role: role[row].clone(),
            instance: instance[row].clone(),
            request_bytes: request_bytes.value(row),
            response_bytes: response_bytes.value(row),
            retransmits: if retransmits.is_null(row) { 0 } else { retransmits.value(row) },
            pid: (!pid.is_null(row)).then(|| pid.value(row)),
            comm: comm[row].clone(),
            client: client[row].clone(),
            service: service[row].clone(),
            service_address: service_address[row].clone(),
            protocol: protocol[row].clone(),
            class: class[row].clone(),
            status: status[row].clone(),
            failed: failed.value(row),
        });
    }
    Ok(())
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch.column_by_name(name).with_context(|| format!("the recording has no column {name}"))
}

/// A text column, plain or dictionary-encoded.
fn texts(batch: &RecordBatch, name: &str) -> Result<Vec<Option<String>>> {
    let column = column(batch, name)?;
    if let Some(plain) = column.as_string_opt::<i32>() {
        return Ok(plain.iter().map(|text| text.map(str::to_owned)).collect());
    }
    let Some(values) = column
        .as_dictionary_opt::<Int32Type>()
        .and_then(arrow_array::DictionaryArray::downcast_dict::<StringArray>)
    else {
        bail!("{name} is not a text column");
    };
    Ok(values.into_iter().map(|text| text.map(str::to_owned)).collect())
}
