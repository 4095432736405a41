//! A recording's metadata: everything of a [`Provenance`], as keys and values of text.
//!
//! Parquet keeps them as the file's key-value metadata, CSV as leading `# key: value` lines.

use std::{collections::BTreeMap, fmt::Display, str::FromStr};

use observer_common::{Nanoseconds, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    printable::excerpt,
    provenance::{Degradation, Provenance, SourceKind, Window},
};

/// The version of the log's format that is written, and the newest that can be read.
pub const LOG_VERSION: u32 = 1;

const VERSION: &str = "observer.log_version";
const SOURCE: &str = "observer.source";
const WINDOW: &str = "observer.window";
const LOST_EVENTS: &str = "observer.lost_events";
const UNPAIRED: &str = "observer.unpaired";
const DEGRADED: &str = "observer.degraded";
const SAMPLED_FRACTION: &str = "observer.sampled_fraction";

/// [`Window`] as it is written.
#[derive(Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the unit is part of each name in the file")]
struct WindowText {
    start_ns: u64,
    duration_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wall_offset_ns: Option<i64>,
}

/// Why a recording's metadata cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MetadataError {
    /// The format is newer than this program.
    #[error(
        "it was written in version {0} of the log's format, this program reads up to {LOG_VERSION}: \
         use a newer observer"
    )]
    TooNew(u32),
    /// A value is not what its key promises.
    #[error(
        "its metadata '{key}' is '{value}', which is not valid ({reason}): record it again, or remove it"
    )]
    Invalid {
        /// The key.
        key: &'static str,
        /// The value as found.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// The metadata that stands for `provenance`, in a fixed order. No value contains a line break.
pub fn to_pairs(provenance: &Provenance) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
    let window = provenance.window.map(|window| WindowText {
        start_ns: window.start.0,
        duration_ns: window.duration.0,
        wall_offset_ns: window.wall_offset_ns,
    });
    let mut pairs = vec![
        (VERSION, LOG_VERSION.to_string()),
        (SOURCE, provenance.kind.name().to_owned()),
        (LOST_EVENTS, provenance.lost_events.to_string()),
        (SAMPLED_FRACTION, provenance.sampled_fraction.to_string()),
        (UNPAIRED, serde_json::to_string(&provenance.unpaired)?),
        (DEGRADED, serde_json::to_string(&provenance.degraded)?),
    ];
    if let Some(window) = window {
        pairs.push((WINDOW, serde_json::to_string(&window)?));
    }
    Ok(pairs)
}

/// The provenance that `pairs` stand for. Without this program's keys it is a table that somebody else wrote.
pub fn from_pairs(pairs: &BTreeMap<String, String>) -> Result<Provenance, MetadataError> {
    let Some(version) = number::<u32>(pairs, VERSION)? else {
        return Ok(Provenance::of(SourceKind::Table));
    };
    if version > LOG_VERSION {
        return Err(MetadataError::TooNew(version));
    }
    let kind = match pairs.get(SOURCE) {
        None => SourceKind::Table,
        Some(name) => serde_json::from_value(name.as_str().into()).map_err(|e| invalid(SOURCE, name, &e))?,
    };
    let window = parsed::<WindowText>(pairs, WINDOW)?.map(|window| Window {
        start: Timestamp(window.start_ns),
        duration: Nanoseconds(window.duration_ns),
        wall_offset_ns: window.wall_offset_ns,
    });
    Ok(Provenance {
        window,
        lost_events: number(pairs, LOST_EVENTS)?.unwrap_or(0),
        sampled_fraction: number(pairs, SAMPLED_FRACTION)?.unwrap_or(1.0),
        unpaired: parsed::<BTreeMap<String, u64>>(pairs, UNPAIRED)?.unwrap_or_default(),
        degraded: parsed::<Vec<Degradation>>(pairs, DEGRADED)?.unwrap_or_default(),
        ..Provenance::of(kind)
    })
}

/// The value of `key` as a plain number.
fn number<T>(pairs: &BTreeMap<String, String>, key: &'static str) -> Result<Option<T>, MetadataError>
where
    T: FromStr<Err: Display>,
{
    let Some(value) = pairs.get(key) else { return Ok(None) };
    value.parse().map(Some).map_err(|error| invalid(key, value, &error))
}

/// The value of `key` as JSON.
fn parsed<T: DeserializeOwned>(
    pairs: &BTreeMap<String, String>,
    key: &'static str,
) -> Result<Option<T>, MetadataError> {
    let Some(value) = pairs.get(key) else { return Ok(None) };
    serde_json::from_str(value).map(Some).map_err(|error| invalid(key, value, &error))
}

fn invalid(key: &'static str, value: &str, reason: &dyn Display) -> MetadataError {
    let reason = excerpt(&reason.to_string()).into_owned();
    MetadataError::Invalid { key, value: excerpt(value).into_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Provenance, MetadataError> {
        from_pairs(&pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn foreign_metadata_is_no_provenance() {
        let provenance = read(&[("pandas", "{}"), ("observer.source", "kernel")]).unwrap();
        assert_eq!(provenance, Provenance::of(SourceKind::Table));
    }

    #[test]
    fn what_cannot_be_understood_is_refused_by_name() {
        let newer = read(&[(VERSION, "2")]).unwrap_err().to_string();
        assert!(newer.contains("version 2") && newer.contains("newer observer"), "{newer}");
        let broken = read(&[(VERSION, "1"), (UNPAIRED, "[1]")]).unwrap_err().to_string();
        assert!(broken.contains("'observer.unpaired' is '[1]'"), "{broken}");
        let source = read(&[(VERSION, "1"), (SOURCE, "tea leaves")]).unwrap_err().to_string();
        assert!(source.contains("'observer.source' is 'tea leaves'"), "{source}");
    }
}
