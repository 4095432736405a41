//! Who talks to whom: roles and addresses, noted once for every connection.

use aya_ebpf::{
    EbpfContext,
    bindings::bpf_sock,
    helpers::{bpf_get_socket_cookie, generated::bpf_sk_cgroup_id},
    programs::SkBuffContext,
};
use observer_common::{Address, Config, Connection, Direction, Endpoint, Peer, Role, Roles};

use crate::{
    headers::{DOMAIN, Packet},
    maps::{CONFIG, LISTENING},
};

const AF_INET: u32 = 2;

/// The role of a connection that no handshake told: it is older than the probes, or `sock_ops` is not there.
///
/// # Safety
///
/// `socket` is a full socket.
#[inline(always)]
pub(crate) unsafe fn assign_role(connection: &mut Connection, socket: *mut bpf_sock, opens: bool) {
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
pub(crate) unsafe fn identify(
    context: &SkBuffContext,
    packet: &Packet,
    direction: Direction,
    socket: *mut bpf_sock,
    connection: &mut Connection,
) {
    // SAFETY: as the caller promises.
    unsafe {
        let parties = &mut connection.parties;
        parties.connection = bpf_get_socket_cookie(context.as_ptr());
        parties.cgroup = bpf_sk_cgroup_id(socket.cast());
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
        parties.local = Endpoint { address: address(source, v4), port: (*socket).src_port };
        parties.dialled =
            Endpoint { address: address(destination, v4), port: u32::from(u16::from_be((*socket).dst_port)) };
        parties.remote = match direction {
            Direction::Egress => Endpoint { address: packet.destination, port: packet.destination_port },
            Direction::Ingress => Endpoint { address: packet.source, port: packet.source_port },
        };
        connection.peer = if parties.remote.port == DOMAIN.into() { Peer::NameServer } else { Peer::Known };
    }
}

/// An address from a socket's IPv4 word and its four IPv6 words.
#[inline(always)]
fn address([v4, a, b, c, d]: [u32; 5], is_v4: bool) -> Address {
    if is_v4 { Address::from_v4(v4) } else { Address { words: [a, b, c, d] } }
}
