//! When the application looked at the response: it runs in the reading process, a peek included.

use core::ffi::c_void;

use aya_ebpf::{
    helpers::{bpf_get_current_comm, bpf_get_current_pid_tgid, bpf_ktime_get_ns},
    macros::btf_tracepoint,
    programs::BtfTracePointContext,
};
use observer_common::Timestamp;

use crate::storage::storage;

#[btf_tracepoint(function = "tcp_rcv_space_adjust")]
fn read(context: BtfTracePointContext) -> i32 {
    let socket: *mut c_void = context.arg(0);
    // SAFETY: the tracepoint's first argument is a socket; the storage is valid where not null.
    unsafe {
        let Some(connection) = storage(socket, false) else { return 0 };
        if connection.is_unread() {
            connection.read(Timestamp(bpf_ktime_get_ns()));
        }
        // Servers, and clients older than the probes, show their process here.
        if connection.parties.pid == 0 && connection.is_observed() {
            connection.parties.pid = (bpf_get_current_pid_tgid() >> 32) as u32;
            if let Ok(comm) = bpf_get_current_comm() {
                connection.parties.comm = comm;
            }
        }
    }
    0
}
