//! From a packet to what the pairing needs of its TCP segment.

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TcpSlice, TransportSlice, ip_number};
use observer_common::{Address, Endpoint, TcpFlags};

use super::packets::{Link, Packet};

/// TCP's acknowledgement flag.
const ACK: u8 = 0x10;

/// The address family in front of packets from a loopback device.
const LOOPBACK_HEADER: usize = 4;
/// The pseudo-headers of Linux's "any" device.
const COOKED_HEADER: usize = 16;
const COOKED2_HEADER: usize = 20;
/// A loopback device's hardware type in those.
const HARDWARE_LOOPBACK: u16 = 772;
/// Their packet type for what this host sends.
const OUTGOING: u8 = 4;

/// One TCP segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct TcpSegment<'a> {
    pub(super) source: Endpoint,
    pub(super) destination: Endpoint,
    pub(super) sequence: u32,
    /// How far the sender has accepted the other side's data, where it says so.
    pub(super) acknowledgement: Option<u32>,
    pub(super) flags: TcpFlags,
    /// Payload on the wire, in bytes.
    pub(super) length: u32,
    /// As much of the payload as was kept.
    pub(super) payload: &'a [u8],
}

impl TcpSegment<'_> {
    /// Whether this is the first segment of a handshake.
    pub(super) const fn opens(&self) -> bool {
        self.flags.syn() && self.acknowledgement.is_none()
    }

    /// Whether this is the second one.
    pub(super) const fn accepts(&self) -> bool {
        self.flags.syn() && self.acknowledgement.is_some()
    }
}

/// What a packet is.
pub(super) enum Decoded<'a> {
    /// A TCP segment.
    Tcp(TcpSegment<'a>),
    /// TCP whose headers were not kept whole, or are in another fragment.
    Unreadable,
    /// Something else.
    Other,
}

/// Takes a packet's headers apart.
pub(super) fn decode(packet: Packet<'_>) -> Decoded<'_> {
    let Some(sliced) = sliced(packet) else { return Decoded::Other };
    let (source, destination, ip_header, ip_length) = match &sliced.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            (
                header.source_addr().into(),
                header.destination_addr().into(),
                offset(header.slice(), packet.data),
                usize::from(header.total_len()),
            )
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let length = usize::from(header.payload_length());
            (
                header.source_addr().into(),
                header.destination_addr().into(),
                offset(header.slice(), packet.data),
                // Longer than the field can say: segmentation offload, which leaves it at 0.
                if length == 0 { 0 } else { length + header.slice().len() },
            )
        }
        _ => return Decoded::Other,
    };
    let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else {
        let protocol = sliced.ip_payload().map(|payload| payload.ip_number);
        return if protocol == Some(ip_number::TCP) { Decoded::Unreadable } else { Decoded::Other };
    };
    let end = if ip_length == 0 { packet.length } else { ip_header + ip_length };
    let length = end.saturating_sub(offset(tcp.slice(), packet.data) + tcp.header_slice().len());
    Decoded::Tcp(TcpSegment {
        source: endpoint(source, tcp.source_port()),
        destination: endpoint(destination, tcp.destination_port()),
        sequence: tcp.sequence_number(),
        acknowledgement: tcp.ack().then(|| tcp.acknowledgment_number()),
        flags: flags(tcp),
        length: u32::try_from(length).unwrap_or(0),
        payload: tcp.payload(),
    })
}

fn sliced(packet: Packet<'_>) -> Option<LaxSlicedPacket<'_>> {
    let data = packet.data;
    match packet.link {
        Link::Ethernet => LaxSlicedPacket::from_ethernet(data).ok(),
        Link::RawIp => LaxSlicedPacket::from_ip(data).ok(),
        Link::Loopback => LaxSlicedPacket::from_ip(data.get(LOOPBACK_HEADER..)?).ok(),
        Link::LinuxCooked => {
            cooked(*data.get(1)?, number(data, 2)?, number(data, 14)?, data.get(COOKED_HEADER..)?)
        }
        Link::LinuxCooked2 => {
            cooked(*data.get(10)?, number(data, 8)?, number(data, 0)?, data.get(COOKED2_HEADER..)?)
        }
    }
}

fn cooked(direction: u8, hardware: u16, ether_type: u16, data: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    // The "any" device shows what a loopback device carries twice: when it leaves and when it arrives.
    if hardware == HARDWARE_LOOPBACK && direction == OUTGOING {
        return None;
    }
    Some(LaxSlicedPacket::from_ether_type(EtherType(ether_type), data))
}

fn number(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset(part: &[u8], whole: &[u8]) -> usize {
    part.as_ptr().addr().saturating_sub(whole.as_ptr().addr())
}

fn endpoint(ip: std::net::IpAddr, port: u16) -> Endpoint {
    Endpoint { address: Address::from_ip(ip), port: port.into() }
}

fn flags(tcp: &TcpSlice<'_>) -> TcpFlags {
    let bit = |set: bool, flag: u8| if set { flag } else { 0 };
    TcpFlags(
        bit(tcp.fin(), TcpFlags::FIN)
            | bit(tcp.syn(), TcpFlags::SYN)
            | bit(tcp.rst(), TcpFlags::RST)
            | bit(tcp.ack(), ACK),
    )
}
