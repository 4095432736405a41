//! What both walking programs share: the payload of a packet, and the right to walk over it.

use aya_ebpf::{
    EbpfContext,
    helpers::{
        bpf_ktime_get_ns,
        generated::{bpf_skb_load_bytes, bpf_spin_lock, bpf_spin_unlock},
    },
    programs::SkBuffContext,
};
use observer_common::{Connection, Direction, PayloadBytes};

/// How often it is looked whether the processor that walks over the segment before is through.
const PATIENCE: u32 = 256;
/// How often the clock is read before every look, for want of another way to wait: for some hundred microseconds in
/// all, as a segment of some hundred frames takes.
const PAUSE: u32 = 16;

/// The payload of a packet.
pub(crate) struct Payload<'a> {
    pub(crate) context: &'a SkBuffContext,
    /// Bytes in front of it.
    pub(crate) header: u32,
}

impl<const HEADER: usize> PayloadBytes<HEADER> for Payload<'_> {
    #[inline(always)]
    fn byte(&self, offset: u32) -> Option<u8> {
        self.context.load::<u8>((self.header + offset) as usize).ok()
    }

    #[inline(always)]
    fn header(&self, offset: u32, header: &mut [u8; 9]) -> bool {
        // SAFETY: a header fits into the longest one.
        unsafe {
            bpf_skb_load_bytes(
                self.context.as_ptr().cast(),
                self.header + offset,
                header.as_mut_ptr().cast(),
                HEADER as u32,
            ) == 0
        }
    }
}

/// Claims the walker of a direction for one segment. False where another processor keeps it: to the next segment this
/// one is a gap.
///
/// # Safety
///
/// `connection` is the storage of a socket.
#[inline(always)]
pub(crate) unsafe fn claim(connection: &mut Connection, direction: Direction) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        let lock = (&raw mut connection.lock).cast();
        bpf_spin_lock(lock);
        let claimed = connection.walker(direction).claim();
        bpf_spin_unlock(lock);
        if claimed {
            return true;
        }
        for _ in 0..PATIENCE {
            for _ in 0..PAUSE {
                bpf_ktime_get_ns();
            }
            if !connection.walker(direction).is_claimed() {
                break;
            }
        }
        bpf_spin_lock(lock);
        let walker = connection.walker(direction);
        let claimed = walker.claim();
        if !claimed {
            walker.miss();
        }
        bpf_spin_unlock(lock);
        claimed
    }
}
