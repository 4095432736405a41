//! The probes. They load bytes, call the pairing state machine of `observer-common` and emit records.
//!
//! | program | hook | does |
//! |---|---|---|
//! | `egress`, `ingress` | `cgroup_skb` | pair payload |
//! | `frames`, `records` | called by these | follow frames of HTTP/2 and records of TLS |
//! | `lifecycle` | `sock_ops` | role from the handshake, first sequence numbers, close |
//! | `connect4`, `connect6` | `cgroup/connect` | process of a client |
//! | `read` | `tp_btf/tcp_rcv_space_adjust` | when the response was looked at |
//! | `waiting` | `iter/bpf_sk_storage_map` | exchanges that are not over, on demand |
//!
//! All of them only look: packets always pass.
#![no_std]
#![no_main]
#![feature(core_intrinsics)]
#![expect(
    internal_features,
    reason = "the target has atomic addition but `core::sync::atomic` does not offer it"
)]

mod count;
mod emit;
mod headers;
mod heads;
mod log;
mod maps;
mod packet;
mod parties;
mod probes;
mod storage;
mod tail;
mod walk;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // Never reached: the verifier would refuse a program that could.
    loop {}
}

/// The kernel lends its GPL-only helpers to programs under this licence.
#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";
