//! Who connects: the only hook that runs in the client's own process.

use aya_ebpf::{
    helpers::{bpf_get_current_comm, bpf_get_current_pid_tgid},
    macros::cgroup_sock_addr,
    programs::SockAddrContext,
};
use observer_common::{Reason, Role};

use crate::{
    count::count,
    maps::{CONFIG, CONNECTIONS},
    parties::wanted,
};

/// Let every connection pass.
const PASS: i32 = 1;
const SOCK_STREAM: u32 = 1;
const IPPROTO_TCP: u32 = 6;

#[cgroup_sock_addr(connect4)]
fn connect4(context: SockAddrContext) -> i32 {
    connect(&context);
    PASS
}

#[cgroup_sock_addr(connect6)]
fn connect6(context: SockAddrContext) -> i32 {
    connect(&context);
    PASS
}

#[inline(always)]
fn connect(context: &SockAddrContext) {
    // SAFETY: reads of the context; the storage is valid where not null.
    unsafe {
        let address = context.sock_addr;
        if (*address).type_ != SOCK_STREAM || (*address).protocol != IPPROTO_TCP {
            return;
        }
        let connection = CONNECTIONS.get_or_insert_ptr_mut(context, None);
        if connection.is_null() {
            count(Reason::StorageFailed);
            return;
        }
        let connection = &mut *connection;
        let pid = (bpf_get_current_pid_tgid() >> 32) as u32;
        connection.parties.pid = pid;
        if let Ok(comm) = bpf_get_current_comm() {
            connection.parties.comm = comm;
        }
        // A program that asks again whether it is connected must not start anew: `lifecycle` does that.
        if matches!(connection.role, Role::Unknown) {
            let own = match CONFIG.get(0) {
                Some(config) => config.own_pid == pid,
                None => false,
            };
            if own || !wanted(Role::Client) {
                connection.role = Role::Ignored;
            } else {
                connection.open(Role::Client);
            }
        }
    }
}
