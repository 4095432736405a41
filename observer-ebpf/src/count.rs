//! Counting.

use core::intrinsics::{AtomicOrdering, atomic_xadd};

use observer_common::Reason;

use crate::maps::COUNTERS;

/// Adds one to this processor's counter. Atomic, since an interrupt may run the same code in between.
#[inline(always)]
pub(crate) fn count(reason: Reason) {
    if let Some(counters) = COUNTERS.get_ptr_mut(0) {
        // SAFETY: the map returns a valid, aligned pointer to this processor's value; `reason` is in bounds.
        unsafe {
            let counter = &raw mut (*counters).counts[reason as usize];
            atomic_xadd::<_, _, { AtomicOrdering::Relaxed }>(counter, 1_u64);
        }
    }
}
