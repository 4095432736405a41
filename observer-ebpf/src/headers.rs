//! The headers of a packet, read where they lie.

use aya_ebpf::programs::SkBuffContext;
use observer_common::{Address, Reason};

use crate::count::count;

const IPPROTO_TCP: u8 = 6;
const IPPROTO_UDP: u8 = 17;
const UDP_HEADER: u32 = 8;
/// The port of name servers.
pub(crate) const DOMAIN: u16 = 53;
/// IPv6 extension headers (RFC 8200, section 4).
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;
/// TCP acknowledgement flag.
pub(crate) const ACK: u8 = 0x10;

/// What the headers of one TCP packet say.
pub(crate) struct Packet {
    pub(crate) source: Address,
    pub(crate) destination: Address,
    pub(crate) source_port: u32,
    pub(crate) destination_port: u32,
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: u32,
    pub(crate) flags: u8,
    /// Bytes before the payload.
    pub(crate) header: u32,
    /// Bytes of payload.
    pub(crate) length: u32,
}

/// The fixed part of an IPv4 header.
#[repr(C)]
struct Ipv4 {
    version_length: u8,
    service: u8,
    total: u16,
    id: u16,
    fragment: u16,
    hops: u8,
    protocol: u8,
    checksum: u16,
    source: u32,
    destination: u32,
}

/// An IPv6 header, without extensions.
#[repr(C)]
struct Ipv6 {
    version: u32,
    length: u16,
    next: u8,
    hops: u8,
    source: [u32; 4],
    destination: [u32; 4],
}

/// The fixed part of a TCP header.
#[repr(C)]
struct Tcp {
    source: u16,
    destination: u16,
    sequence: u32,
    acknowledgement: u32,
    offset: u8,
    flags: u8,
    window: u16,
    checksum: u16,
    urgent: u16,
}

impl Packet {
    /// Reads the headers of a TCP packet where they lie: at this hook they are always in the linear part.
    #[inline(always)]
    pub(crate) fn of(context: &SkBuffContext) -> Option<Self> {
        // SAFETY: every read is behind a comparison with the packet's end, as the verifier demands.
        unsafe {
            let skb = context.skb.skb;
            let data = (*skb).data as usize;
            let end = (*skb).data_end as usize;
            if data + 20 > end {
                return None;
            }
            let version = *(data as *const u8) >> 4;
            let (offset, source, destination) = if version == 4 {
                let ip = data as *const Ipv4;
                if (*ip).protocol != IPPROTO_TCP {
                    return None;
                }
                if (*ip).fragment & 0xff3f_u16.to_le() != 0 {
                    count(Reason::Unreadable);
                    return None;
                }
                let offset = usize::from((*ip).version_length & 15) * 4;
                (offset, Address::from_v4((*ip).source), Address::from_v4((*ip).destination))
            } else {
                if version != 6 || data + 40 > end {
                    return None;
                }
                let ip = data as *const Ipv6;
                let mut next = (*ip).next;
                let mut offset = 40;
                if next == HOP_BY_HOP && data + 48 <= end {
                    // Segmentation offload beyond 64 KiB announces its size in an 8-byte option (RFC 2675).
                    let option = (data + 40) as *const [u8; 2];
                    if (*option)[1] == 0 {
                        next = (*option)[0];
                        offset = 48;
                    }
                }
                if next != IPPROTO_TCP {
                    // Further extensions: TCP may follow, out of reach.
                    if matches!(next, HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION_OPTIONS) {
                        count(Reason::Unreadable);
                    }
                    return None;
                }
                (offset, Address { words: (*ip).source }, Address { words: (*ip).destination })
            };
            let tcp = data + offset;
            if tcp + 20 > end {
                return None;
            }
            let tcp = tcp as *const Tcp;
            let header = offset as u32 + u32::from((*tcp).offset >> 4) * 4;
            let total = (*skb).len;
            Some(Self {
                source,
                destination,
                source_port: u32::from(u16::from_be((*tcp).source)),
                destination_port: u32::from(u16::from_be((*tcp).destination)),
                sequence: u32::from_be((*tcp).sequence),
                acknowledgement: u32::from_be((*tcp).acknowledgement),
                flags: (*tcp).flags,
                header,
                length: total.saturating_sub(header),
            })
        }
    }
}

/// Where the payload of a name server's datagram begins, and how long it is; nothing for any other packet.
#[inline(always)]
pub(crate) fn names_answer(context: &SkBuffContext) -> Option<(u32, u32)> {
    // SAFETY: every read is behind a comparison with the packet's end, as the verifier demands.
    unsafe {
        let skb = context.skb.skb;
        let data = (*skb).data as usize;
        let end = (*skb).data_end as usize;
        if data + 20 > end {
            return None;
        }
        let offset = if *(data as *const u8) >> 4 == 4 {
            let ip = data as *const Ipv4;
            if (*ip).protocol != IPPROTO_UDP || (*ip).fragment & 0xff1f_u16.to_le() != 0 {
                return None;
            }
            usize::from((*ip).version_length & 15) * 4
        } else {
            if data + 40 > end || (*(data as *const Ipv6)).next != IPPROTO_UDP {
                return None;
            }
            40
        };
        let udp = data + offset;
        if udp + UDP_HEADER as usize > end || u16::from_be(*(udp as *const u16)) != DOMAIN {
            return None;
        }
        let header = offset as u32 + UDP_HEADER;
        Some((header, (*skb).len.saturating_sub(header)))
    }
}
