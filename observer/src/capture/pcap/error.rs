//! Why a packet capture cannot be read.

use std::{io, path::PathBuf};

/// Why a packet capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PcapError {
    /// The file cannot be read at all.
    #[error("cannot read '{}': {source}; name a file that exists and may be read", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file holds nothing.
    #[error("'{}' is empty: a packet capture has at least a header; capture again", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("'{}' is no packet capture: it begins like neither pcap nor pcapng; name another file", path.display())]
    NotACapture {
        /// The file.
        path: PathBuf,
    },
    /// The file ends in the middle.
    #[error(
        "'{}' is cut off after packet {packets}: its capture was not ended properly; capture again, or keep the \
         whole packets with 'editcap'",
        path.display()
    )]
    CutOff {
        /// The file.
        path: PathBuf,
        /// How many whole packets it has.
        packets: u64,
    },
    /// The file breaks the rules of its format.
    #[error("'{}' is damaged after packet {packets} ({reason}): capture again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How many good packets it has.
        packets: u64,
        /// What is wrong.
        reason: String,
    },
    /// The packets come from a kind of network that is not understood.
    #[error(
        "'{}' was captured on link type {link}, which is not supported: capture on Ethernet, loopback or 'any'",
        path.display()
    )]
    LinkType {
        /// The file.
        path: PathBuf,
        /// The link type's number and name.
        link: String,
    },
}
