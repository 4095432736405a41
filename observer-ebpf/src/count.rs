//! Counting.

use core::intrinsics::{AtomicOrdering, atomic_xadd};

use observer_common::{COUNTERS, Reason};

use crate::maps;

/// Adds one to this processor's counter. Atomic, since an interrupt may run the same code in between.
#[inline(always)]
pub(crate) fn count(reason: Reason) {
    if let Some(counters) = maps::COUNTERS.get_ptr_mut(0) {
        // SAFETY: the map returns a valid, aligned pointer to this processor's value; `reason` is in bounds.
        unsafe {
            let counter = &raw mut (*counters).counts[reason as usize];
            atomic_xadd::<_, _, { AtomicOrdering::Relaxed }>(counter, 1_u64);
        }
    }
}

/// The same by a reason's index; 0 is none.
#[inline(always)]
pub(crate) fn count_index(index: u8) {
    let index = usize::from(index);
    if index == 0 || index >= COUNTERS {
        return;
    }
    if let Some(counters) = maps::COUNTERS.get_ptr_mut(0) {
        // SAFETY: as above.
        unsafe {
            let counter = (&raw mut (*counters).counts).cast::<u64>().add(index);
            atomic_xadd::<_, _, { AtomicOrdering::Relaxed }>(counter, 1_u64);
        }
    }
}
