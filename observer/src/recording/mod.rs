//! Writing exchange logs: Parquet and CSV, complete or not at all.
//!
//! [`Recorder::create`] opens the files early, while the process may still be privileged; the recording appears
//! under its own name only when [`Recorder::finish`] has written all of it.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    exchange::{Exchange, Names},
    provenance::Provenance,
};

pub mod columns;
mod csv;
pub mod metadata;
mod output;
mod parquet;

pub use csv::CsvRecorder;
pub use output::PendingFile;
pub use parquet::ParquetRecorder;

/// A recording that is being written, in the format that its file name asks for.
#[derive(Debug)]
pub enum Recorder {
    /// A name that ends in `.parquet`.
    Parquet(Box<ParquetRecorder>),
    /// A name that ends in `.csv`.
    Csv(Box<CsvRecorder>),
}

impl Recorder {
    /// Begins a recording that will appear at `path`. Nothing is there before [`Recorder::finish`].
    pub fn create(path: &Path) -> Result<Self, RecordingError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some(extension) if extension.eq_ignore_ascii_case("parquet") => {
                Ok(Self::Parquet(Box::new(ParquetRecorder::create(path)?)))
            }
            Some(extension) if extension.eq_ignore_ascii_case("csv") => {
                Ok(Self::Csv(Box::new(CsvRecorder::create(path)?)))
            }
            _ => Err(RecordingError::UnknownExtension { path: path.to_owned() }),
        }
    }

    /// Where it is written.
    pub fn output(&self) -> &PendingFile {
        match self {
            Self::Parquet(recorder) => recorder.output(),
            Self::Csv(recorder) => recorder.output(),
        }
    }

    /// Adds one exchange, whose names are those of `names`.
    pub fn write(&mut self, exchange: &Exchange, names: &Names) -> Result<(), RecordingError> {
        match self {
            Self::Parquet(recorder) => recorder.write(exchange, names),
            Self::Csv(recorder) => recorder.write(exchange, names),
        }
    }

    /// Adds what is known of the whole recording, and lets it appear under its name.
    pub fn finish(self, provenance: &Provenance) -> Result<(), RecordingError> {
        match self {
            Self::Parquet(recorder) => recorder.finish(provenance),
            Self::Csv(recorder) => recorder.finish(provenance),
        }
    }
}

/// Why a recording could not be written. Nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The name does not say which format is wanted.
    #[error("cannot record to '{}': its name must end in .parquet or .csv", path.display())]
    UnknownExtension {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be made where it shall appear.
    #[error("cannot create '{}': {source}; choose a directory that exists and can be written", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The name is taken by something that is no file.
    #[error("cannot create '{}': it is a directory; name a file in it", path.display())]
    IsDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// What was written so far cannot be continued.
    #[error("cannot write '{}': {source}; nothing of it was kept, make room or choose another place", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

#[cfg(test)]
mod tests;
