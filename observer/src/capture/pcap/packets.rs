//! From a capture file to its packets, in both formats.

use std::{
    fs::File,
    io::{ErrorKind, Read, Seek},
    path::Path,
};

use observer_common::Timestamp;
use pcap_file::{
    DataLink, PcapError as FormatError, TsResolution,
    pcap::PcapReader,
    pcapng::{
        Block, PcapNgReader,
        blocks::{
            interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption},
            interface_statistics::InterfaceStatisticsOption,
        },
    },
};

use super::PcapError;

const PCAPNG_MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const PCAP_MAGICS: [u32; 4] = [0xa1b2_c3d4, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x4d3c_b2a1];

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// One captured packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    /// When it was captured, since the Unix epoch.
    pub(super) now: Timestamp,
    /// What it begins with.
    pub(super) link: Link,
    /// As much of it as was kept.
    pub(super) data: &'a [u8],
    /// How long it was, in bytes.
    pub(super) length: usize,
}

/// What a packet begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Ethernet,
    /// The pseudo-header of Linux's "any" device.
    LinuxCooked,
    /// Its second version.
    LinuxCooked2,
    /// IPv4 or IPv6 at once.
    RawIp,
    /// Four bytes with the address family, then IP.
    Loopback,
}

impl Link {
    fn of(link: DataLink) -> Option<Self> {
        match link {
            DataLink::ETHERNET => Some(Self::Ethernet),
            DataLink::LINUX_SLL => Some(Self::LinuxCooked),
            DataLink::LINUX_SLL2 => Some(Self::LinuxCooked2),
            DataLink::RAW | DataLink::IPV4 | DataLink::IPV6 => Some(Self::RawIp),
            DataLink::NULL | DataLink::LOOP => Some(Self::Loopback),
            _ => None,
        }
    }
}

/// What is known of a capture as a whole.
#[derive(Debug, Default)]
pub(super) struct Capture {
    /// Its earliest and latest packet.
    pub(super) span: Option<(Timestamp, Timestamp)>,
    /// Packets that the capturing program says it lost.
    pub(super) dropped: u64,
    /// Packets read.
    packets: u64,
}

impl Capture {
    fn add(&mut self, now: Timestamp) {
        self.packets += 1;
        self.span = Some(self.span.map_or((now, now), |(first, last)| (first.min(now), last.max(now))));
    }
}

/// Hands every packet of the file to `sink`.
pub(super) fn each(path: &Path, file: &File, sink: impl FnMut(Packet<'_>)) -> Result<Capture, PcapError> {
    let open = |source| PcapError::Open { path: path.to_owned(), source };
    let mut file = file.try_clone().map_err(open)?;
    file.rewind().map_err(open)?;
    let mut magic = Vec::new();
    file.by_ref().take(4).read_to_end(&mut magic).map_err(open)?;
    file.rewind().map_err(open)?;
    let Ok(magic) = <[u8; 4]>::try_from(magic.as_slice()) else {
        return Err(if magic.is_empty() {
            PcapError::Empty { path: path.to_owned() }
        } else {
            PcapError::NotACapture { path: path.to_owned() }
        });
    };
    if magic == PCAPNG_MAGIC {
        each_of_pcapng(path, file, sink)
    } else if PCAP_MAGICS.contains(&u32::from_be_bytes(magic)) {
        each_of_pcap(path, file, sink)
    } else {
        Err(PcapError::NotACapture { path: path.to_owned() })
    }
}

fn each_of_pcap(path: &Path, file: File, mut sink: impl FnMut(Packet<'_>)) -> Result<Capture, PcapError> {
    let mut capture = Capture::default();
    let mut reader = PcapReader::new(file).map_err(|error| explain(path, &capture, error))?;
    let header = reader.header();
    let link = Link::of(header.datalink).ok_or_else(|| unsupported(path, header.datalink))?;
    let fraction_nanoseconds = match header.ts_resolution {
        TsResolution::MicroSecond => 1_000,
        TsResolution::NanoSecond => 1,
    };
    // Raw packets: the checked ones refuse what was longer than the capture's limit, as cut packets are.
    while let Some(packet) = reader.next_raw_packet() {
        let packet = packet.map_err(|error| explain(path, &capture, error))?;
        let now = Timestamp(
            u64::from(packet.ts_sec) * NANOSECONDS_PER_SECOND
                + u64::from(packet.ts_frac) * fraction_nanoseconds,
        );
        capture.add(now);
        sink(Packet { now, link, data: &packet.data, length: packet.orig_len as usize });
    }
    Ok(capture)
}

fn each_of_pcapng(path: &Path, file: File, mut sink: impl FnMut(Packet<'_>)) -> Result<Capture, PcapError> {
    let mut capture = Capture::default();
    let mut reader = PcapNgReader::new(file).map_err(|error| explain(path, &capture, error))?;
    let mut interfaces: Vec<Interface> = Vec::new();
    while let Some(block) = reader.next_block() {
        match block.map_err(|error| explain(path, &capture, error))? {
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(block) => interfaces.push(Interface::of(&block)),
            Block::InterfaceStatistics(block) => {
                // One block an interface, at the end: what the interface and the system dropped.
                for option in &block.options {
                    if let InterfaceStatisticsOption::IsbIfDrop(count)
                    | InterfaceStatisticsOption::IsbOsDrop(count) = option
                    {
                        capture.dropped = capture.dropped.saturating_add(*count);
                    }
                }
            }
            Block::EnhancedPacket(packet) => {
                let interface = interfaces.get(packet.interface_id as usize);
                let interface = interface.ok_or_else(|| PcapError::Damaged {
                    path: path.to_owned(),
                    packets: capture.packets,
                    reason: format!("interface {} is not described", packet.interface_id),
                })?;
                let link = Link::of(interface.link).ok_or_else(|| unsupported(path, interface.link))?;
                // The format's crate takes the interface's unit for nanoseconds.
                let now = interface.nanoseconds(packet.timestamp.as_nanos());
                capture.add(now);
                sink(Packet { now, link, data: &packet.data, length: packet.original_len as usize });
            }
            _ => {}
        }
    }
    Ok(capture)
}

/// What a pcapng capture says of one interface.
struct Interface {
    link: DataLink,
    units_per_second: u128,
    offset_seconds: u64,
}

impl Interface {
    fn of(block: &InterfaceDescriptionBlock<'_>) -> Self {
        let mut interface = Self { link: block.linktype, units_per_second: 1_000_000, offset_seconds: 0 };
        for option in &block.options {
            match option {
                // The highest bit chooses between powers of 2 and of 10.
                InterfaceDescriptionOption::IfTsResol(resolution) => {
                    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
                    interface.units_per_second =
                        base.checked_pow(u32::from(resolution & 0x7f)).unwrap_or(u128::MAX);
                }
                InterfaceDescriptionOption::IfTsOffset(seconds) => interface.offset_seconds = *seconds,
                _ => {}
            }
        }
        interface
    }

    fn nanoseconds(&self, units: u128) -> Timestamp {
        let nanoseconds = units * u128::from(NANOSECONDS_PER_SECOND) / self.units_per_second;
        let offset = self.offset_seconds.wrapping_mul(NANOSECONDS_PER_SECOND);
        Timestamp(u64::try_from(nanoseconds).unwrap_or(u64::MAX).wrapping_add(offset))
    }
}

fn unsupported(path: &Path, link: DataLink) -> PcapError {
    PcapError::LinkType { path: path.to_owned(), link: format!("{} ({link:?})", u32::from(link)) }
}

fn explain(path: &Path, capture: &Capture, error: FormatError) -> PcapError {
    let (path, packets) = (path.to_owned(), capture.packets);
    match error {
        FormatError::IoError(source) if source.kind() != ErrorKind::UnexpectedEof => {
            PcapError::Open { path, source }
        }
        FormatError::IoError(_) | FormatError::IncompleteBuffer => PcapError::CutOff { path, packets },
        other => PcapError::Damaged { path, packets, reason: other.to_string() },
    }
}
