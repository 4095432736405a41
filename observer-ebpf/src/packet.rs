//! From a packet at the socket's cgroup to a step of its connection.

use aya_ebpf::{
    bindings::{BPF_TCP_LISTEN, bpf_sock},
    helpers::{
        bpf_ktime_get_ns,
        generated::{bpf_sk_fullsock, bpf_spin_lock, bpf_spin_unlock, bpf_tcp_sock},
    },
    programs::SkBuffContext,
};
use observer_common::{
    Connection, Direction, FEW, HEAD_LENGTH, Head, Known, MYSQL_COMMAND, Outcome, Peer, Phase, Protocol,
    Reason, RecordKind, Role, Route, Segment, TcpFlags, Timestamp, mysql_is_encrypted, mysql_is_unanswered,
};

use crate::{
    count::count,
    emit::{emit, emit_closed, emit_opened, emit_payload},
    headers::{ACK, Packet, names_answer},
    heads::{keep_heads, load},
    log::debug,
    parties::{assign_role, identify},
    storage::storage,
    tail::continue_with,
};

/// Takes in one packet.
#[inline(always)]
pub(crate) fn observe(context: &SkBuffContext, direction: Direction) {
    let Some(packet) = Packet::of(context) else {
        if matches!(direction, Direction::Ingress)
            && let Some((header, length)) = names_answer(context)
        {
            emit_payload(context, header, length, RecordKind::Names, 0, false);
        }
        return;
    };
    let opens =
        packet.flags & (TcpFlags::SYN | ACK) == TcpFlags::SYN && matches!(direction, Direction::Egress);
    if packet.length == 0 && !opens && packet.flags & (TcpFlags::FIN | TcpFlags::RST) == 0 {
        return; // a bare acknowledgement
    }
    // SAFETY: reads of the context and calls of helpers, as the verifier checks them.
    unsafe {
        let Some(socket) = socket(context) else { return };
        let create = packet.length != 0 || opens;
        let Some(connection) = storage(socket.cast(), create) else {
            if create {
                debug!(context, "no storage for a connection");
                count(Reason::StorageFailed);
            }
            return;
        };
        if matches!(connection.role, Role::Unknown) {
            assign_role(connection, socket, opens);
            debug!(context, "port {}: seen from the middle on", (*socket).src_port);
        }
        if !connection.is_observed() {
            return;
        }
        // A request that came with a server's handshake has no packet of its own here.
        let tells = connection.is_request(direction) || matches!(connection.role, Role::Server);
        if matches!(connection.peer, Peer::Unknown) && tells {
            identify(context, &packet, direction, socket, connection);
        }
        match connection.route() {
            Route::Turns => {}
            Route::Frames if packet.length == 0 => {
                end_frames(connection, direction, packet.flags, srtt_eighths(socket));
                return;
            }
            Route::Frames => continue_with(context, Route::Frames, direction),
            Route::Records if packet.length == 0 => {}
            Route::Records => {
                continue_with(context, Route::Records, direction);
                // It is not there: nothing tells data from a handshake.
                connection.phase = Phase::Opaque;
            }
        }
        take_turn(context, &packet, direction, socket, connection);
    }
}

/// The full socket of a packet; none for a listener, which is no connection: what comes to it belongs to a socket
/// that does not exist yet.
///
/// # Safety
///
/// As the verifier checks.
#[inline(always)]
pub(crate) unsafe fn socket(context: &SkBuffContext) -> Option<*mut bpf_sock> {
    // SAFETY: reads of the context.
    unsafe {
        let socket = (*context.skb.skb).__bindgen_anon_2.sk;
        if socket.is_null() {
            return None;
        }
        let socket = bpf_sk_fullsock(socket);
        if socket.is_null() || (*socket).state == BPF_TCP_LISTEN {
            return None;
        }
        Some(socket)
    }
}

/// The smoothed round-trip time of a socket.
///
/// # Safety
///
/// `socket` is a full socket.
#[inline(always)]
pub(crate) unsafe fn srtt_eighths(socket: *mut bpf_sock) -> impl FnOnce() -> u32 {
    // SAFETY: as the caller promises.
    move || unsafe {
        let tcp = bpf_tcp_sock(socket);
        if tcp.is_null() { 0 } else { (*tcp).srtt_us }
    }
}

/// The segment of a packet, but for what its payload says.
///
/// # Safety
///
/// `socket` is a full socket.
#[inline(always)]
pub(crate) unsafe fn segment(
    packet: &Packet,
    direction: Direction,
    socket: *mut bpf_sock,
    connection: &Connection,
) -> Segment {
    let mut segment = Segment {
        // Before what the stack has accepted is looked at: what it accepts in between counts as later.
        // SAFETY: a helper without arguments.
        now: Timestamp(unsafe { bpf_ktime_get_ns() }),
        direction,
        sequence: packet.sequence,
        length: packet.length,
        flags: TcpFlags(packet.flags),
        acknowledged: if packet.flags & ACK != 0 {
            Known::to_be(packet.acknowledgement)
        } else {
            Known::NOTHING
        },
        head: Head::Unknown,
        silent: false,
        received: Known::NOTHING,
    };
    if matches!(direction, Direction::Ingress) && connection.asks_for_received(packet.sequence) {
        // SAFETY: as the caller promises.
        unsafe {
            let tcp = bpf_tcp_sock(socket);
            if !tcp.is_null() {
                segment.received = Known::to_be((*tcp).rcv_nxt);
            }
        }
    }
    segment
}

/// Pairs by turns.
///
/// # Safety
///
/// `socket` is a full socket and `connection` its storage.
#[inline(always)]
unsafe fn take_turn(
    context: &SkBuffContext,
    packet: &Packet,
    direction: Direction,
    socket: *mut bpf_sock,
    connection: &mut Connection,
) {
    // SAFETY: as the caller promises.
    unsafe {
        let asks = connection.is_request(direction);
        let mut head = if packet.length != 0 && asks { Head::Other } else { Head::Unknown };
        let mut silent = false;
        if asks && matches!(connection.protocol, Protocol::Mysql) {
            if packet.length >= MYSQL_COMMAND as u32
                && let Ok(bytes) = context.load::<[u8; MYSQL_COMMAND]>(packet.header as usize)
            {
                silent = mysql_is_unanswered(bytes, packet.length);
                if mysql_is_encrypted(bytes) {
                    head = Head::TlsRecord;
                }
            }
        } else if packet.length >= HEAD_LENGTH as u32 && connection.asks_for_head(direction) {
            head = Head::Unknown;
            if let Ok(bytes) = context.load::<[u8; HEAD_LENGTH]>(packet.header as usize) {
                if connection.suspects_http2(direction, &bytes) {
                    continue_with(context, Route::Frames, direction);
                }
                head = Head::of(&bytes);
            }
        } else if connection.asks_for_few(direction) {
            let mut few = [0; FEW];
            let length = load::<FEW>(context, packet.header, packet.length, few.as_mut_ptr());
            head = Head::of_few(few, length);
        }
        let mut segment = segment(packet, direction, socket, connection);
        segment.head = head;
        segment.silent = silent;
        let lock = (&raw mut connection.lock).cast();
        bpf_spin_lock(lock);
        let step = connection.observe(&segment);
        bpf_spin_unlock(lock);
        emit(connection, &step, srtt_eighths(socket));
        if !asks && matches!(connection.peer, Peer::NameServer) && packet.length != 0 {
            emit_payload(context, packet.header, packet.length, RecordKind::Names, 0, true);
        }
        keep_heads(context, packet, connection, &step);
        if silent {
            count(Reason::Unanswered);
        }
        if step.opens_frames() {
            emit_opened(connection, segment.now, step.is_whole());
            continue_with(context, Route::Frames, direction);
        } else if step.says_hello() {
            let cookie = connection.parties.connection;
            emit_payload(context, packet.header, packet.length, RecordKind::Hello, cookie, true);
            continue_with(context, Route::Records, direction);
        }
    }
}

/// A FIN or RST ends all streams: of the side that answers, or at once.
#[inline(always)]
pub(crate) fn end_frames(
    connection: &Connection,
    direction: Direction,
    flags: u8,
    srtt_eighths: impl FnOnce() -> u32,
) {
    let reset = flags & TcpFlags::RST != 0;
    if !reset && (flags & TcpFlags::FIN == 0 || connection.is_request(direction)) {
        return;
    }
    let outcome = match direction {
        Direction::Egress => Outcome::Cancelled,
        Direction::Ingress => Outcome::Reset,
    };
    // SAFETY: a helper without arguments.
    let now = Timestamp(unsafe { bpf_ktime_get_ns() });
    emit_closed(connection, now, outcome, srtt_eighths());
}
