//! Captures of scripted conversations.

use std::{borrow::Cow, net::SocketAddr, time::Duration};

use etherparse::PacketBuilder;
use observer_common::TcpFlags;
use pcap_file::{
    DataLink, TsResolution,
    pcap::{PcapHeader, PcapWriter, RawPcapPacket},
    pcapng::{
        PcapNgWriter,
        blocks::{
            enhanced_packet::EnhancedPacketBlock,
            interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption},
        },
    },
};

pub(super) const SYN: u8 = TcpFlags::SYN;
pub(super) const FIN: u8 = TcpFlags::FIN;
pub(super) const RST: u8 = TcpFlags::RST;

/// When every script begins, in nanoseconds since the Unix epoch.
pub(super) const EPOCH: u64 = 1_700_000_000_000_000_000;

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Client,
    Server,
}

/// A conversation's packets, as IP. Times are in microseconds from the beginning, sequence numbers from 0 for the
/// SYN of either side.
#[derive(Clone, Debug)]
pub(super) struct Script {
    client: SocketAddr,
    server: SocketAddr,
    packets: Vec<(u64, Vec<u8>)>,
}

/// The first sequence numbers of both sides: the server's wraps soon.
const CLIENT_START: u32 = 1_000;
const SERVER_START: u32 = u32::MAX - 20;

impl Script {
    pub(super) fn new(client: &str, server: &str) -> Self {
        Self { client: client.parse().unwrap(), server: server.parse().unwrap(), packets: Vec::new() }
    }

    /// One segment that acknowledges, as all but the first do.
    pub(super) fn segment(
        &mut self,
        at: u64,
        from: From,
        flags: u8,
        sequence: u32,
        acknowledges: u32,
        payload: &[u8],
    ) {
        self.push(at, from, flags, sequence, Some(acknowledges), payload);
    }

    /// The first segment of a handshake.
    pub(super) fn syn(&mut self, at: u64, payload: &[u8]) {
        self.push(at, From::Client, SYN, 0, None, payload);
    }

    /// The handshake, from microsecond `at` to `at + 2`.
    pub(super) fn handshake(&mut self, at: u64) {
        self.syn(at, b"");
        self.segment(at + 1, From::Server, SYN, 0, 1, b"");
        self.segment(at + 2, From::Client, 0, 1, 1, b"");
    }

    fn push(&mut self, at: u64, from: From, flags: u8, sequence: u32, ack: Option<u32>, payload: &[u8]) {
        let (source, destination, start, other) = match from {
            From::Client => (self.client, self.server, CLIENT_START, SERVER_START),
            From::Server => (self.server, self.client, SERVER_START, CLIENT_START),
        };
        let ip = match (source, destination) {
            (SocketAddr::V4(source), SocketAddr::V4(destination)) => {
                PacketBuilder::ipv4(source.ip().octets(), destination.ip().octets(), 64)
            }
            (SocketAddr::V6(source), SocketAddr::V6(destination)) => {
                PacketBuilder::ipv6(source.ip().octets(), destination.ip().octets(), 64)
            }
            _ => panic!("both ends of one family"),
        };
        let mut tcp = ip.tcp(source.port(), destination.port(), start.wrapping_add(sequence), 4096);
        if flags & SYN != 0 {
            tcp = tcp.syn();
        }
        if flags & FIN != 0 {
            tcp = tcp.fin();
        }
        if flags & RST != 0 {
            tcp = tcp.rst();
        }
        if let Some(ack) = ack {
            tcp = tcp.ack(other.wrapping_add(ack));
        }
        let mut bytes = Vec::new();
        tcp.write(&mut bytes, payload).unwrap();
        self.packets.push((EPOCH + at * 1_000, bytes));
    }

    /// Another conversation's packets behind these.
    pub(super) fn append(&mut self, other: Self) {
        self.packets.extend(other.packets);
    }

    /// The script as a pcap file that keeps `most` bytes of a packet.
    pub(super) fn pcap(&self, link: DataLink, resolution: TsResolution, most: usize) -> Vec<u8> {
        let header = PcapHeader {
            snaplen: u32::try_from(most).unwrap(),
            datalink: link,
            ts_resolution: resolution,
            ..PcapHeader::default()
        };
        let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
        for (now, ip) in &self.packets {
            let data = framed(link, ip);
            let kept = &data[..data.len().min(most)];
            let unit = if resolution == TsResolution::NanoSecond { 1 } else { 1_000 };
            writer
                .write_raw_packet(&RawPcapPacket {
                    ts_sec: u32::try_from(now / 1_000_000_000).unwrap(),
                    ts_frac: u32::try_from(now % 1_000_000_000 / unit).unwrap(),
                    incl_len: u32::try_from(kept.len()).unwrap(),
                    orig_len: u32::try_from(data.len()).unwrap(),
                    data: Cow::Borrowed(kept),
                })
                .unwrap();
        }
        writer.into_writer()
    }

    /// The script as a pcapng file whose times count `10^-resolution` seconds.
    pub(super) fn pcapng(&self, link: DataLink, resolution: u8) -> Vec<u8> {
        let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
        let mut interface = InterfaceDescriptionBlock::new(link, 0);
        interface.options.push(InterfaceDescriptionOption::IfTsResol(resolution));
        writer.write_pcapng_block(interface).unwrap();
        for (now, ip) in &self.packets {
            let data = framed(link, ip);
            let packet = EnhancedPacketBlock {
                interface_id: 0,
                timestamp: Duration::from_nanos(now / 10_u64.pow(9 - u32::from(resolution))),
                original_len: u32::try_from(data.len()).unwrap(),
                data: Cow::Owned(data),
                options: Vec::new(),
            };
            writer.write_pcapng_block(packet).unwrap();
        }
        writer.into_inner()
    }
}

/// The packet with what its link type puts in front.
fn framed(link: DataLink, ip: &[u8]) -> Vec<u8> {
    let version_6 = ip[0] >> 4 == 6;
    let ether_type: [u8; 2] = if version_6 { [0x86, 0xdd] } else { [0x08, 0x00] };
    let family = if version_6 { 30 } else { 2 };
    let front = match link {
        // With a VLAN tag.
        DataLink::ETHERNET => [[2; 12].as_slice(), &[0x81, 0, 0, 7], &ether_type].concat(),
        DataLink::LINUX_SLL => [[0; 14].as_slice(), &ether_type].concat(),
        DataLink::LINUX_SLL2 => [ether_type.as_slice(), &[0; 18]].concat(),
        DataLink::NULL => vec![family, 0, 0, 0],
        DataLink::LOOP => vec![0, 0, 0, family],
        _ => Vec::new(),
    };
    let mut data = [&front, ip].concat();
    if link == DataLink::ETHERNET && data.len() < 64 {
        data.resize(64, 0xee); // the padding of short frames is no payload
    }
    data
}
