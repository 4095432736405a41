//! What kind of file a recording is.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::ValueEnum;

use super::failure::Failure;
use crate::capture::Opened;

/// The name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// What the user says that a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum InputFormat {
    /// Its first bytes tell
    Auto,
    /// An exchange log in CSV
    Csv,
    /// An exchange log in Parquet
    Parquet,
    /// A packet capture: pcap or pcapng
    Pcap,
}

/// Who reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// The reader of exchange logs.
    Table,
    /// The reader of packet captures.
    Pcap,
}

/// A recording that is open.
#[derive(Debug)]
pub(super) struct Input {
    /// What messages call it.
    pub(super) name: PathBuf,
    pub(super) opened: Opened,
    pub(super) reader: Reader,
}

impl Input {
    /// Opens a file, a pipe or standard input, decides by its first bytes, and refuses what they contradict.
    pub(super) fn open(path: &Path, said: InputFormat) -> Result<Self, Failure> {
        let (opened, path) = if path == Path::new(STANDARD_INPUT) {
            (Opened::standard_input(), Path::new("standard input"))
        } else {
            (Opened::open(path), path)
        };
        let opened = opened.map_err(|error| {
            let path = path.display();
            Failure::Usage(anyhow!("cannot read '{path}': {error}; name a recording that exists"))
        })?;
        let reader = Reader::of(path, found_format(opened.head()), said)?;
        Ok(Self { name: path.into(), opened, reader })
    }
}

impl Reader {
    fn of(path: &Path, found: InputFormat, said: InputFormat) -> Result<Self, Failure> {
        let contradiction = |is: &str| {
            let path = path.display();
            Failure::Usage(anyhow!("'{path}' is {is}; leave out --from, or name another file"))
        };
        match (said, found) {
            (InputFormat::Csv, InputFormat::Parquet) => {
                Err(contradiction("an exchange log in Parquet, not CSV"))
            }
            (InputFormat::Parquet, InputFormat::Csv) => Err(contradiction("not in Parquet")),
            (InputFormat::Csv | InputFormat::Parquet, InputFormat::Pcap) => {
                Err(contradiction("a packet capture, not an exchange log"))
            }
            (InputFormat::Pcap, _) | (InputFormat::Auto, InputFormat::Pcap) => Ok(Self::Pcap),
            _ => Ok(Self::Table),
        }
    }
}

/// What has no mark of its own is CSV.
fn found_format(head: &[u8]) -> InputFormat {
    match head {
        [b'P', b'A', b'R', b'1'] => InputFormat::Parquet,
        // pcap with microseconds and nanoseconds in both byte orders, and the section header of pcapng.
        [0xd4, 0xc3, 0xb2, 0xa1]
        | [0xa1, 0xb2, 0xc3, 0xd4]
        | [0x4d, 0x3c, 0xb2, 0xa1]
        | [0xa1, 0xb2, 0x3c, 0x4d]
        | [0x0a, 0x0d, 0x0d, 0x0a] => InputFormat::Pcap,
        _ => InputFormat::Csv,
    }
}
