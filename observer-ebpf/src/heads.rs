//! Keeping what messages begin with.

use aya_ebpf::{EbpfContext, helpers::generated::bpf_skb_load_bytes, programs::SkBuffContext};
use observer_common::{Connection, Step};

use crate::headers::Packet;

/// Keeps the first bytes of the message that begins with this packet. Whoever begins a message is alone with its
/// head: the exchange before has been emitted, and its answer is still to come.
#[inline(always)]
pub(crate) fn keep_heads(context: &SkBuffContext, packet: &Packet, connection: &mut Connection, step: &Step) {
    let Connection { heads, kept, .. } = connection;
    if step.asked() {
        kept.response = 0;
        kept.request = if step.shows_head() { keep(context, packet, &mut heads.request) } else { 0 };
    } else if step.answered() && step.shows_head() {
        kept.response = keep(context, packet, &mut heads.response);
    }
}

/// Copies the beginning of the payload and says how much that was.
#[inline(always)]
fn keep<const LENGTH: usize>(context: &SkBuffContext, packet: &Packet, bytes: &mut [u8; LENGTH]) -> u8 {
    // SAFETY: `bytes` is as long as `LENGTH` says.
    unsafe { load::<LENGTH>(context, packet.header, packet.length, bytes.as_mut_ptr()) as u8 }
}

/// Copies at most `LENGTH` bytes, a power of two, of the `length` bytes at `offset` of the packet, and says how many
/// that were.
///
/// # Safety
///
/// There is room for `LENGTH` bytes at `to`.
#[inline(always)]
pub(crate) unsafe fn load<const LENGTH: usize>(
    context: &SkBuffContext,
    offset: u32,
    length: u32,
    to: *mut u8,
) -> u32 {
    const { assert!(LENGTH.is_power_of_two()) };
    let wanted = if length > LENGTH as u32 { LENGTH as u32 } else { length };
    if wanted == 0 {
        return 0;
    }
    // SAFETY: as the caller promises; the bounds are in a form that the verifier sees, behind a read that keeps the
    // optimiser from taking it out again.
    unsafe {
        let wanted = (&raw const wanted).read_volatile();
        let wanted = (wanted.wrapping_sub(1) & (LENGTH as u32 - 1)) + 1;
        let failed = bpf_skb_load_bytes(context.as_ptr().cast(), offset, to.cast(), wanted);
        if failed == 0 { wanted } else { 0 }
    }
}
