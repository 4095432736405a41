//! State of a loop that the verifier must not follow through registers.
//!
//! The verifier walks a loop once for every state that it can tell apart. Values that live in registers make every
//! turn a state of its own; values that are read from a map anew are unknown each time, so that the second turn is
//! the same as the first and the walk ends. Volatile access keeps the compiler from moving them into registers.

/// Reads a value where it lies.
#[inline(always)]
pub(crate) fn get<T: Copy>(place: &T) -> T {
    // SAFETY: a reference is valid and aligned.
    #[expect(unsafe_code, reason = "the only way to ask for a real load")]
    unsafe {
        core::ptr::read_volatile(place)
    }
}

/// Writes a value where it lies.
#[inline(always)]
pub(crate) fn set<T: Copy>(place: &mut T, value: T) {
    // SAFETY: a reference is valid and aligned.
    #[expect(unsafe_code, reason = "the only way to ask for a real store")]
    unsafe {
        core::ptr::write_volatile(place, value);
    }
}
