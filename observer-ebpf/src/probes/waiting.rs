//! Exchanges that are not over, read on demand from the storage of every socket of every namespace.

use core::ffi::c_void;

use aya_ebpf::{bindings::seq_file, helpers::generated::bpf_seq_write};
use observer_common::{Connection, Phase};

/// The kernel's `struct bpf_iter_meta`.
#[repr(C)]
struct Meta {
    sequence_file: *mut seq_file,
    session: u64,
    number: u64,
}

/// The kernel's `struct bpf_iter__bpf_sk_storage_map`.
#[repr(C)]
struct Context {
    meta: *mut Meta,
    map: *mut c_void,
    socket: *mut c_void,
    value: *mut Connection,
}

#[unsafe(no_mangle)]
#[unsafe(link_section = "iter/bpf_sk_storage_map")]
extern "C" fn waiting(context: *mut Context) -> i32 {
    // SAFETY: the kernel passes a valid context; `value` is null behind the last element.
    unsafe {
        let value = (*context).value;
        if value.is_null() {
            return 0;
        }
        if matches!((*value).phase, Phase::Requesting | Phase::Responding) {
            let file = (*(*context).meta).sequence_file;
            bpf_seq_write(file, value.cast(), size_of::<Connection>() as u32);
        }
    }
    0
}
