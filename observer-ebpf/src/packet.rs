//! From a packet at the socket's cgroup to a step of its connection.

use aya_ebpf::{
    EbpfContext,
    bindings::{BPF_SK_STORAGE_GET_F_CREATE, BPF_TCP_LISTEN, bpf_sock},
    helpers::{
        bpf_get_socket_cookie, bpf_ktime_get_ns,
        generated::{bpf_sk_fullsock, bpf_sk_storage_get, bpf_spin_lock, bpf_spin_unlock, bpf_tcp_sock},
    },
    programs::SkBuffContext,
};
use observer_common::{
    Address, Config, Connection, Direction, Endpoint, HEAD_LENGTH, Head, Reason, Role, Roles, Segment,
    TcpFlags, Timestamp,
};

use crate::{
    count::count,
    emit::emit,
    log::debug,
    maps::{CONFIG, CONNECTIONS, LISTENING},
};

const AF_INET: u32 = 2;
const IPPROTO_TCP: u8 = 6;
/// IPv6 extension headers (RFC 8200, section 4).
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;
/// TCP acknowledgement flag.
const ACK: u8 = 0x10;

/// What the headers of one TCP packet say.
struct Packet {
    source: Address,
    destination: Address,
    source_port: u32,
    destination_port: u32,
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    /// Bytes before the payload.
    header: u32,
    /// Bytes of payload.
    length: u32,
}

/// Takes in one packet.
#[inline(always)]
pub(crate) fn observe(context: &SkBuffContext, direction: Direction) {
    let Some(packet) = Packet::of(context) else { return };
    let opens =
        packet.flags & (TcpFlags::SYN | ACK) == TcpFlags::SYN && matches!(direction, Direction::Egress);
    if packet.length == 0 && !opens && packet.flags & (TcpFlags::FIN | TcpFlags::RST) == 0 {
        return; // a bare acknowledgement
    }
    // SAFETY: reads of the context and calls of helpers, as the verifier checks them.
    unsafe {
        let socket = (*context.skb.skb).__bindgen_anon_2.sk;
        if socket.is_null() {
            return;
        }
        let socket = bpf_sk_fullsock(socket);
        // A listener is no connection: what comes to it belongs to a socket that does not exist yet.
        if socket.is_null() || (*socket).state == BPF_TCP_LISTEN {
            return;
        }
        let create = if packet.length != 0 || opens { BPF_SK_STORAGE_GET_F_CREATE } else { 0 };
        let connection: *mut Connection = bpf_sk_storage_get(
            (&raw const CONNECTIONS).cast_mut().cast(),
            socket.cast(),
            core::ptr::null_mut(),
            create.into(),
        )
        .cast();
        if connection.is_null() {
            if create != 0 {
                debug!(context, "no storage for a connection");
                count(Reason::StorageFailed);
            }
            return;
        }
        let connection = &mut *connection;
        if matches!(connection.role, Role::Unknown) {
            assign_role(connection, socket, opens);
            debug!(context, "port {}: seen from the middle on", (*socket).src_port);
        }
        if !connection.is_observed() {
            return;
        }
        step(context, &packet, direction, socket, connection);
    }
}

/// # Safety
///
/// `socket` is a full socket and `connection` its storage.
#[inline(always)]
unsafe fn step(
    context: &SkBuffContext,
    packet: &Packet,
    direction: Direction,
    socket: *mut bpf_sock,
    connection: &mut Connection,
) {
    // SAFETY: as the caller promises.
    unsafe {
        // A request that came with a server's handshake has no packet of its own here.
        let tells = connection.is_request(direction) || matches!(connection.role, Role::Server);
        if connection.remote.port == 0 && tells {
            identify(context, packet, direction, socket, connection);
        }
        let head = if packet.length >= HEAD_LENGTH as u32 && connection.asks_for_head(direction) {
            match context.load::<[u8; HEAD_LENGTH]>(packet.header as usize) {
                Ok(bytes) => Head::of(&bytes),
                Err(_) => Head::Unknown,
            }
        } else if packet.length != 0 && connection.is_request(direction) {
            Head::Other
        } else {
            Head::Unknown
        };
        let mut segment = Segment {
            // Before what the stack has accepted is looked at: what it accepts in between counts as later.
            now: Timestamp(bpf_ktime_get_ns()),
            direction,
            sequence: packet.sequence,
            length: packet.length,
            flags: TcpFlags(packet.flags),
            acknowledged: if packet.flags & ACK != 0 { Some(packet.acknowledgement) } else { None },
            head,
            received: None,
        };
        if matches!(direction, Direction::Ingress) && connection.asks_for_received(packet.sequence) {
            let tcp = bpf_tcp_sock(socket);
            if !tcp.is_null() {
                segment.received = Some((*tcp).rcv_nxt);
            }
        }
        let lock = (&raw mut connection.lock).cast();
        bpf_spin_lock(lock);
        let step = connection.observe(&segment);
        bpf_spin_unlock(lock);
        emit(connection, &step, || {
            let tcp = bpf_tcp_sock(socket);
            if tcp.is_null() { 0 } else { (*tcp).srtt_us }
        });
    }
}

/// The role of a connection that no handshake told: it is older than the probes, or `sock_ops` is not there.
///
/// # Safety
///
/// `socket` is a full socket.
#[inline(always)]
unsafe fn assign_role(connection: &mut Connection, socket: *mut bpf_sock, opens: bool) {
    // SAFETY: as the caller promises; the map's values are valid where not null.
    let port = unsafe { (*socket).src_port };
    let listening = match LISTENING.get((port & 0xffff) / 64) {
        Some(word) => word >> (port & 63) & 1 != 0,
        None => false,
    };
    let role = if listening && !opens { Role::Server } else { Role::Client };
    if !wanted(role) {
        connection.role = Role::Ignored;
    } else if opens {
        connection.open(role);
    } else {
        connection.open_in_the_middle(role);
    }
}

/// Whether connections of this role are observed.
#[inline(always)]
pub(crate) fn wanted(role: Role) -> bool {
    let Some(Config { roles, .. }) = CONFIG.get(0) else { return false };
    let bit = if matches!(role, Role::Client) { Roles::CLIENT } else { Roles::SERVER };
    roles & bit != 0
}

/// Notes both ends and the cookie, once, from the first packet in request direction: only there the packet
/// shows the real instance behind address translation.
///
/// # Safety
///
/// `socket` is a full socket.
#[inline(always)]
unsafe fn identify(
    context: &SkBuffContext,
    packet: &Packet,
    direction: Direction,
    socket: *mut bpf_sock,
    connection: &mut Connection,
) {
    // SAFETY: as the caller promises.
    unsafe {
        connection.cookie = bpf_get_socket_cookie(context.as_ptr());
        // Volatile, so that the compiler reads each field at its own constant offset: the verifier refuses
        // arithmetic on a socket's address.
        let source = [
            (&raw const (*socket).src_ip4).read_volatile(),
            (&raw const (*socket).src_ip6[0]).read_volatile(),
            (&raw const (*socket).src_ip6[1]).read_volatile(),
            (&raw const (*socket).src_ip6[2]).read_volatile(),
            (&raw const (*socket).src_ip6[3]).read_volatile(),
        ];
        let destination = [
            (&raw const (*socket).dst_ip4).read_volatile(),
            (&raw const (*socket).dst_ip6[0]).read_volatile(),
            (&raw const (*socket).dst_ip6[1]).read_volatile(),
            (&raw const (*socket).dst_ip6[2]).read_volatile(),
            (&raw const (*socket).dst_ip6[3]).read_volatile(),
        ];
        let v4 = (*socket).family == AF_INET;
        connection.local = Endpoint { address: address(source, v4), port: (*socket).src_port };
        connection.dialled =
            Endpoint { address: address(destination, v4), port: u32::from(u16::from_be((*socket).dst_port)) };
        connection.remote = match direction {
            Direction::Egress => Endpoint { address: packet.destination, port: packet.destination_port },
            Direction::Ingress => Endpoint { address: packet.source, port: packet.source_port },
        };
    }
}

/// An address from a socket's IPv4 word and its four IPv6 words.
#[inline(always)]
fn address([v4, a, b, c, d]: [u32; 5], is_v4: bool) -> Address {
    if is_v4 { Address::from_v4(v4) } else { Address { words: [a, b, c, d] } }
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
    fn of(context: &SkBuffContext) -> Option<Self> {
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
