//! What both walking programs share: the payload of a packet, byte by byte.

use aya_ebpf::{EbpfContext, helpers::generated::bpf_skb_load_bytes, programs::SkBuffContext};
use observer_common::PayloadBytes;

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
