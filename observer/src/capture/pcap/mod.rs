//! Packet captures, replayed through the very pairing machine that the probes run.
//!
//! ```text
//! file ──> packets (pcap, pcapng) ──> decode (link, IP, TCP) ──> conversations ──> Exchange
//! ```
//!
//! A capture shows both ends of a connection; [`PcapOptions::role`] says at which of them it was taken, or whose
//! view is wanted. Requests travel from the end that opened the connection to the other one.

use std::{fs::File, path::Path};

use observer_common::{Nanoseconds, Reason, Role};

use super::Opened;
use crate::{
    exchange::{Exchange, Names},
    provenance::{Degradation, Provenance, SourceKind, Window},
};

mod conversation;
mod conversations;
mod decode;
mod error;
mod packets;
mod probe;

pub use error::PcapError;

use conversations::Conversations;
use decode::Decoded;

/// How to read a packet capture.
#[derive(Clone, Copy, Debug)]
pub struct PcapOptions {
    /// Whose view is taken: [`Role::Client`] that of the end which opened a connection, [`Role::Server`] that of
    /// the end which accepted it.
    pub role: Role,
}

impl Default for PcapOptions {
    fn default() -> Self {
        Self { role: Role::Client }
    }
}

/// What was read besides the exchanges.
#[derive(Clone, Debug, PartialEq)]
pub struct PcapRead {
    /// What was captured, and what in it is no certain pair.
    pub provenance: Provenance,
    /// What the reader should know, one sentence each.
    pub notes: Vec<String>,
}

/// Reads a capture in the pcap or pcapng format and hands each exchange to `sink` when it is over; those that
/// still wait at the capture's end are `pending`.
///
/// # Errors
///
/// What is wrong with the file, in one sentence. What went to `sink` before is then to be thrown away.
pub fn read(
    path: &Path,
    options: &PcapOptions,
    names: &mut Names,
    sink: &mut dyn FnMut(&Exchange, &Names),
) -> Result<PcapRead, PcapError> {
    let opened = Opened::open(path).and_then(Opened::into_file);
    let file = opened.map_err(|source| PcapError::Open { path: path.to_owned(), source })?;
    read_from(path, &file, options, names, sink)
}

/// Reads a file that is open already, from its beginning, and called `path` in messages; otherwise as [`read`].
///
/// # Errors
///
/// As [`read`].
pub fn read_from(
    path: &Path,
    file: &File,
    options: &PcapOptions,
    names: &mut Names,
    sink: &mut dyn FnMut(&Exchange, &Names),
) -> Result<PcapRead, PcapError> {
    let mut conversations = Conversations::new(options.role, names, sink);
    let mut unreadable = 0;
    let mut tcp = false;
    let capture = packets::each(path, file, |packet| match decode::decode(packet) {
        Decoded::Tcp(segment) => {
            tcp = true;
            conversations.observe(packet.now, &segment);
        }
        Decoded::Unreadable => unreadable += 1,
        Decoded::Other => {}
    })?;
    let mut notes = Vec::new();
    if !tcp {
        notes.push(format!("'{}' contains no TCP", path.display()));
    }
    let mut provenance = Provenance::of(SourceKind::Pcap);
    if let Some((first, last)) = capture.span {
        conversations.end(last);
        provenance.window = Some(Window {
            start: first,
            duration: last.since(first).unwrap_or(Nanoseconds(0)),
            // A capture's clock is the wall clock.
            wall_offset_ns: Some(0),
        });
    }
    provenance.unpaired = conversations.into_unpaired();
    if unreadable != 0 {
        *provenance.unpaired.entry(Reason::Unreadable.name().to_owned()).or_default() += unreadable;
    }
    if capture.dropped != 0 {
        provenance.degraded.push(Degradation {
            what: "capture".to_owned(),
            reason: format!("the capturing program dropped {} packets", capture.dropped),
            consequence: "exchanges may be missing, and their times be late".to_owned(),
        });
    }
    Ok(PcapRead { provenance, notes })
}

#[cfg(test)]
mod tests;
