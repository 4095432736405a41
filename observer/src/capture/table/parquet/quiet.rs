//! Panics that are caught and not told of: what is said about the file instead tells all that there is to know.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    /// Whether a panic of this thread is caught here.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// What `work` gives; nothing where it panics, and nothing is printed then. Panics elsewhere are told of as before.
pub(super) fn catch<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            if !CAUGHT.get() {
                before(panicked);
            }
        }));
    });
    let outer = CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(outer);
    result.ok()
}
