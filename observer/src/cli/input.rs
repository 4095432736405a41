//! What kind of file a recording is.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use anyhow::anyhow;
use clap::ValueEnum;

use super::failure::Failure;

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
pub(super) enum Input {
    /// The reader of exchange logs.
    Table,
    /// The reader of packet captures.
    Pcap,
}

impl Input {
    /// Decides by the file's first bytes, and refuses what they contradict.
    pub(super) fn of(path: &Path, said: InputFormat) -> Result<Self, Failure> {
        let found = first_bytes(path).map_err(|error| {
            let path = path.display();
            Failure::Usage(anyhow!("cannot read '{path}': {error}; name a recording that exists"))
        })?;
        let found = found_format(found);
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

fn first_bytes(path: &Path) -> io::Result<[u8; 4]> {
    let mut file = File::open(path)?;
    let mut bytes = [0; 4];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(bytes)
}

/// What has no mark of its own is CSV.
fn found_format(bytes: [u8; 4]) -> InputFormat {
    match bytes {
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
