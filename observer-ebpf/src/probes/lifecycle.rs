//! The life of a connection: its role, its first sequence numbers, its end.

use aya_ebpf::{
    bindings::{
        BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB, BPF_SOCK_OPS_RTO_CB,
        BPF_SOCK_OPS_RTO_CB_FLAG, BPF_SOCK_OPS_STATE_CB, BPF_SOCK_OPS_STATE_CB_FLAG,
        BPF_SOCK_OPS_TCP_CONNECT_CB, BPF_TCP_CLOSE,
    },
    helpers::{
        bpf_ktime_get_ns,
        generated::{bpf_spin_lock, bpf_spin_unlock},
    },
    macros::sock_ops,
    programs::SockOpsContext,
};
use observer_common::{
    Closed, Connection, Direction, Head, Known, Outcome, Reason, Role, Route, Segment, TcpFlags, Timestamp,
};

use crate::{
    count::count,
    emit::{emit, emit_closed},
    log::debug,
    parties::wanted,
    storage::storage,
};

/// The answer to callbacks that ask nothing.
const NO_REPLY: u32 = 1;

#[sock_ops]
fn lifecycle(context: SockOpsContext) -> u32 {
    // SAFETY: reads of the context and calls of helpers, as the verifier checks them.
    unsafe {
        match context.op() {
            BPF_SOCK_OPS_TCP_CONNECT_CB => connecting(&context),
            BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB => active(&context),
            BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB => passive(&context),
            BPF_SOCK_OPS_STATE_CB if context.arg(1) == BPF_TCP_CLOSE => closed(&context, Closed::Here),
            // The third argument tells that this was the last timeout that TCP puts up with.
            BPF_SOCK_OPS_RTO_CB if context.arg(2) != 0 => closed(&context, Closed::GaveUp),
            _ => {}
        }
    }
    NO_REPLY
}

/// The storage of the context's socket.
#[inline(always)]
unsafe fn connection<'a>(context: &SockOpsContext, create: bool) -> Option<&'a mut Connection> {
    // SAFETY: as for the caller.
    unsafe { storage((*context.ops).__bindgen_anon_2.sk.cast(), create) }
}

/// Asks for the callbacks at the end, beside what other programs ask for.
#[inline(always)]
fn watch_end(context: &SockOpsContext) {
    let flags = BPF_SOCK_OPS_STATE_CB_FLAG | BPF_SOCK_OPS_RTO_CB_FLAG;
    let _ = context.set_cb_flags((context.cb_flags() | flags) as i32);
}

/// The SYN is about to leave.
#[inline(always)]
unsafe fn connecting(context: &SockOpsContext) {
    // SAFETY: as for the caller.
    unsafe {
        let Some(connection) = connection(context, true) else {
            count(Reason::StorageFailed);
            return;
        };
        if matches!(connection.role, Role::Ignored) {
            return;
        }
        if !wanted(Role::Client) {
            connection.role = Role::Ignored;
            return;
        }
        // A socket may connect again after it was disconnected.
        connection.forget();
        connection.open(Role::Client);
        watch_end(context);
        debug!(context, "port {}: connecting", context.remote_port());
    }
}

/// The handshake of a client is complete.
#[inline(always)]
unsafe fn active(context: &SockOpsContext) {
    // SAFETY: as for the caller.
    unsafe {
        if let Some(connection) = connection(context, false)
            && connection.is_observed()
        {
            connection.established((*context.ops).snd_nxt, (*context.ops).rcv_nxt);
        }
    }
}

/// The handshake of a server is complete, perhaps by a segment that carries data already.
#[inline(always)]
unsafe fn passive(context: &SockOpsContext) {
    // SAFETY: as for the caller.
    unsafe {
        let Some(connection) = connection(context, true) else {
            count(Reason::StorageFailed);
            return;
        };
        if !wanted(Role::Server) {
            connection.role = Role::Ignored;
            return;
        }
        let received_next = (*context.ops).rcv_nxt;
        connection.open(Role::Server);
        connection.established((*context.ops).snd_nxt, received_next);
        watch_end(context);
        debug!(context, "port {}: accepted", context.local_port());

        let data = (*context.ops).__bindgen_anon_3.skb_data as usize;
        let end = (*context.ops).__bindgen_anon_4.skb_data_end as usize;
        if data == 0 || data + 20 > end {
            return;
        }
        // Data offset: the upper four bits of byte 12 of the TCP header, in words.
        let header = u32::from(*((data + 12) as *const u8) >> 4) * 4;
        let total = (*context.ops).skb_len;
        if total <= header {
            return;
        }
        let segment = Segment {
            now: Timestamp(bpf_ktime_get_ns()),
            direction: Direction::Ingress,
            sequence: received_next,
            length: total - header,
            flags: TcpFlags((*context.ops).skb_tcp_flags as u8 & TcpFlags::FIN),
            acknowledged: Known::NOTHING,
            head: Head::Unknown,
            silent: false,
            received: Known::NOTHING,
        };
        let lock = (&raw mut connection.lock).cast();
        bpf_spin_lock(lock);
        let step = connection.observe(&segment);
        bpf_spin_unlock(lock);
        emit(connection, &step, || 0);
    }
}

/// The socket is closed.
#[inline(always)]
unsafe fn closed(context: &SockOpsContext, closed: Closed) {
    // SAFETY: as for the caller.
    unsafe {
        let Some(connection) = connection(context, false) else { return };
        let now = Timestamp(bpf_ktime_get_ns());
        let lock = (&raw mut connection.lock).cast();
        bpf_spin_lock(lock);
        let step = connection.close(now, closed);
        bpf_spin_unlock(lock);
        let srtt = (*context.ops).srtt_us;
        emit(connection, &step, || srtt);
        if matches!(connection.route(), Route::Frames) {
            let outcome = match closed {
                Closed::Here => Outcome::Cancelled,
                Closed::GaveUp => Outcome::Timeout,
            };
            emit_closed(connection, now, outcome, srtt);
        }
    }
}
