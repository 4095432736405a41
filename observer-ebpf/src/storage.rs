//! The state of a connection, which lies with its socket.

use core::ffi::c_void;

use aya_ebpf::{bindings::BPF_SK_STORAGE_GET_F_CREATE, helpers::generated::bpf_sk_storage_get};
use observer_common::Connection;

use crate::maps::CONNECTIONS;

/// The storage of a socket, made on demand.
///
/// # Safety
///
/// `socket` is a socket or null, of a type that the verifier takes at this hook.
#[inline(always)]
pub(crate) unsafe fn storage<'a>(socket: *mut c_void, create: bool) -> Option<&'a mut Connection> {
    if socket.is_null() {
        return None;
    }
    let flags = if create { BPF_SK_STORAGE_GET_F_CREATE } else { 0 };
    // SAFETY: the storage is valid where not null, for as long as the program runs.
    unsafe {
        let connection: *mut Connection = bpf_sk_storage_get(
            (&raw const CONNECTIONS).cast_mut().cast(),
            socket,
            core::ptr::null_mut(),
            flags.into(),
        )
        .cast();
        connection.as_mut()
    }
}
