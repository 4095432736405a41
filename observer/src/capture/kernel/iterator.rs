//! Reading the storage of all sockets through the `waiting` iterator.

use std::{
    fs::File,
    io::{self, Read},
    mem::size_of,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use observer_common::Connection;
use zerocopy::TryFromBytes;

/// `BPF_LINK_CREATE`.
const LINK_CREATE: libc::c_long = 28;
/// `BPF_ITER_CREATE`.
const ITERATOR_CREATE: libc::c_long = 33;
/// `BPF_TRACE_ITER`.
const TRACE_ITERATOR: u32 = 28;

/// `union bpf_iter_link_info`, its map variant.
#[repr(C)]
struct LinkInfo {
    map_fd: u32,
    rest: [u32; 3],
}

/// Bytes of [`LinkInfo`].
const LINK_INFO_LENGTH: u32 = 16;
const _: () = assert!(LINK_INFO_LENGTH as usize == size_of::<LinkInfo>());

/// `union bpf_attr`, as `BPF_LINK_CREATE` reads it.
#[repr(C)]
struct LinkCreate {
    program_fd: u32,
    target_fd: u32,
    attach_type: u32,
    flags: u32,
    information: u64,
    information_length: u32,
    rest: [u32; 9],
}

/// `union bpf_attr`, as `BPF_ITER_CREATE` reads it.
#[repr(C)]
struct IteratorCreate {
    link_fd: u32,
    flags: u32,
}

/// The iterator, linked to the storage map.
#[derive(Debug)]
pub(super) struct StorageIterator {
    link: OwnedFd,
    buffer: Vec<u8>,
}

impl StorageIterator {
    /// Links the loaded program to the map. aya links iterators without naming a map, which this one needs.
    pub(super) fn link(program: BorrowedFd<'_>, map: BorrowedFd<'_>) -> io::Result<Self> {
        let information = LinkInfo { map_fd: descriptor(map), rest: [0; 3] };
        let attributes = LinkCreate {
            program_fd: descriptor(program),
            target_fd: 0,
            attach_type: TRACE_ITERATOR,
            flags: 0,
            information: (&raw const information) as u64,
            information_length: LINK_INFO_LENGTH,
            rest: [0; 9],
        };
        let link = bpf(LINK_CREATE, &attributes)?;
        Ok(Self { link, buffer: Vec::new() })
    }

    /// Every connection with an exchange that is not over.
    pub(super) fn read(&mut self) -> io::Result<impl Iterator<Item = Connection> + '_> {
        let attributes = IteratorCreate { link_fd: self.link.as_raw_fd().cast_unsigned(), flags: 0 };
        let mut file = File::from(bpf(ITERATOR_CREATE, &attributes)?);
        self.buffer.clear();
        file.read_to_end(&mut self.buffer)?;
        Ok(self
            .buffer
            .chunks_exact(size_of::<Connection>())
            .filter_map(|bytes| Connection::try_read_from_bytes(bytes).ok()))
    }
}

fn descriptor(fd: BorrowedFd<'_>) -> u32 {
    fd.as_raw_fd().cast_unsigned()
}

/// A `bpf()` command that returns a new file descriptor.
fn bpf<T>(command: libc::c_long, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: `attributes` is a valid prefix of `union bpf_attr` for the command, of the size given, and what it
    // points to lives until the call returns.
    #[expect(unsafe_code, reason = "the kernel border: aya has no such call")]
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, (&raw const *attributes).cast::<u8>(), size_of::<T>())
    };
    match i32::try_from(result) {
        // SAFETY: the kernel has just created this descriptor for us.
        #[expect(unsafe_code, reason = "the kernel border: the descriptor is new and ours")]
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}
