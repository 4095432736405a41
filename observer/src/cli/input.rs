//! What kind of file a recording is.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{ValueEnum, builder::PossibleValue};

use super::failure::Failure;
use crate::capture::{
    Opened,
    access_log::{self, AccessLogFormat},
};

/// The name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// What the user says that a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum InputFormat {
    /// How it begins tells
    Auto,
    /// An exchange log in CSV
    Csv,
    /// An exchange log in Parquet
    Parquet,
    /// A packet capture: pcap or pcapng
    Pcap,
    /// An access log of nginx, with upstream variables
    Nginx,
    /// A log of HAProxy, with 'option httplog'
    Haproxy,
    /// An access log of Envoy or Istio, as text or JSON
    Envoy,
    /// Results of JMeter in CSV
    Jtl,
}

/// Who reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// The reader of exchange logs.
    Table,
    /// The reader of packet captures.
    Pcap,
    /// The reader of access logs.
    AccessLog(AccessLogFormat),
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
        if let Some(how) = compression(opened.head()) {
            let path = path.display();
            return Err(Failure::Usage(anyhow!(
                "'{path}' is compressed with {how}: decompress it first, '{how} -dc' into 'observer analyze -'"
            )));
        }
        if let Some(encoding) = encoding(opened.head()) {
            let path = path.display();
            return Err(Failure::Usage(anyhow!(
                "'{path}' is encoded in {encoding}: make it UTF-8 first, 'iconv -f {encoding} -t UTF-8' into 'observer \
                 analyze -'"
            )));
        }
        let reader = Reader::of(path, opened.head(), said)?;
        Ok(Self { name: path.into(), opened, reader })
    }
}

impl InputFormat {
    /// What can be said besides 'auto', as it is said.
    pub(super) fn names() -> String {
        let values = Self::value_variants().iter().filter(|format| **format != Self::Auto);
        let names: Vec<_> = values.filter_map(ValueEnum::to_possible_value).collect();
        names.iter().map(PossibleValue::get_name).collect::<Vec<_>>().join(", ")
    }
}

impl Reader {
    fn of(path: &Path, head: &[u8], said: InputFormat) -> Result<Self, Failure> {
        let found = Mark::of(head);
        let contradiction = |is: &str| {
            let path = path.display();
            Failure::Usage(anyhow!("'{path}' is {is}; leave out --from, or name another file"))
        };
        match (said, found) {
            (InputFormat::Csv, Mark::Parquet) => Err(contradiction("an exchange log in Parquet, not CSV")),
            (InputFormat::Parquet, Mark::None) => Err(contradiction("not in Parquet")),
            (InputFormat::Csv | InputFormat::Parquet, Mark::Pcap) => {
                Err(contradiction("a packet capture, not an exchange log"))
            }
            (InputFormat::Pcap, _) | (InputFormat::Auto, Mark::Pcap) => Ok(Self::Pcap),
            (InputFormat::Auto, Mark::None) => {
                Ok(access_log::recognise(head).map_or(Self::Table, Self::AccessLog))
            }
            (InputFormat::Auto | InputFormat::Csv | InputFormat::Parquet, _) => Ok(Self::Table),
            (_, Mark::Parquet) => Err(contradiction("an exchange log in Parquet, not an access log")),
            (_, Mark::Pcap) => Err(contradiction("a packet capture, not an access log")),
            (InputFormat::Nginx, Mark::None) => Ok(Self::AccessLog(AccessLogFormat::Nginx)),
            (InputFormat::Haproxy, Mark::None) => Ok(Self::AccessLog(AccessLogFormat::Haproxy)),
            (InputFormat::Envoy, Mark::None) => Ok(Self::AccessLog(AccessLogFormat::Envoy)),
            (InputFormat::Jtl, Mark::None) => Ok(Self::AccessLog(AccessLogFormat::Jtl)),
        }
    }
}

/// What the first bytes of a binary format say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Parquet,
    Pcap,
    /// It is text, or something else.
    None,
}

impl Mark {
    fn of(head: &[u8]) -> Self {
        match head {
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            // pcap with microseconds and nanoseconds in both byte orders, and the section header of pcapng.
            [0xd4, 0xc3, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0xc3, 0xd4, ..]
            | [0x4d, 0x3c, 0xb2, 0xa1, ..]
            | [0xa1, 0xb2, 0x3c, 0x4d, ..]
            | [0x0a, 0x0d, 0x0d, 0x0a, ..] => Self::Pcap,
            _ => Self::None,
        }
    }
}

/// Another encoding than UTF-8, by the mark that begins the text.
const fn encoding(head: &[u8]) -> Option<&'static str> {
    match head {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        _ => None,
    }
}

/// The program that a file was compressed with, by its first bytes.
const fn compression(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x1f, 0x8b, ..] => Some("gzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("xz"),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some("bzip2"),
        _ => None,
    }
}
