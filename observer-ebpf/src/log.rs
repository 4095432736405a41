//! Logging in debug builds of the object; in the committed one it is nothing at all.

/// Logs a rare event with its context, as `aya_log_ebpf::debug!` does.
#[cfg(feature = "log")]
macro_rules! debug {
    ($context:expr, $($message:tt)+) => { aya_log_ebpf::debug!($context, $($message)+) };
}

/// Nothing: the object is built without logging.
#[cfg(not(feature = "log"))]
macro_rules! debug {
    ($context:expr, $($message:tt)+) => {
        let _ = &$context;
    };
}

pub(crate) use debug;
