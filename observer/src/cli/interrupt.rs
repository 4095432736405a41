//! The first interrupt ends the observation, the second one the program.

use std::{
    ffi::CString,
    io,
    os::unix::ffi::OsStrExt as _,
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    low_level,
};

use super::failure::Failure;

/// What a shell reports for a program that an interrupt ended.
const INTERRUPTED_TWICE: i32 = 130;

/// Whether somebody wants an early end.
#[derive(Clone, Debug)]
pub(super) struct Interrupt(Arc<State>);

#[derive(Debug, Default)]
struct State {
    noted: Arc<AtomicBool>,
    /// Incomplete files, which nobody else removes where the program ends at once.
    parts: OnceLock<Vec<CString>>,
}

impl Interrupt {
    /// From now on, the first interrupt, termination signal or end of the terminal is only noted.
    pub(super) fn watch() -> Result<Self, Failure> {
        let state = Arc::new(State::default());
        let register = || -> io::Result<()> {
            for signal in [SIGINT, SIGTERM] {
                let state = Arc::clone(&state);
                on(signal, move || state.interrupt())?;
            }
            if !hangups_are_ignored() {
                // When a terminal ends, its shell and the kernel both say so: the second time means nothing more.
                signal_hook::flag::register(SIGHUP, Arc::clone(&state.noted))?;
            }
            Ok(())
        };
        register().map_err(|error| {
            Failure::Running(anyhow::anyhow!("cannot watch for interrupts: {error}; try again"))
        })?;
        Ok(Self(state))
    }

    /// The second interrupt leaves nothing of these files. To be said once.
    pub(super) fn leaving_no<'path>(self, parts: impl IntoIterator<Item = &'path Path>) -> Self {
        let parts = parts.into_iter().filter_map(|part| CString::new(part.as_os_str().as_bytes()).ok());
        // A second call changes nothing.
        let _ = self.0.parts.set(parts.collect());
        self
    }

    /// Whether it was noted.
    pub(super) fn is_noted(&self) -> bool {
        self.0.noted.load(Ordering::Relaxed)
    }
}

impl State {
    /// A signal has come. This runs in a signal handler: it neither allocates nor locks.
    fn interrupt(&self) {
        if self.noted.swap(true, Ordering::Relaxed) {
            for part in self.parts.get().into_iter().flatten() {
                // Once it is complete it has another name.
                let _ = rustix::fs::unlink(part.as_c_str());
            }
            low_level::exit(INTERRUPTED_TWICE);
        }
    }
}

/// Lets `act` run whenever the signal comes.
fn on(signal: i32, act: impl Fn() + Send + Sync + 'static) -> io::Result<()> {
    // SAFETY: what runs is `State::interrupt`, which reads and sets atomics and makes the system calls unlink and _exit:
    // all of that is safe in a signal handler (signal-safety(7)).
    #[expect(unsafe_code, reason = "the kernel border: only a handler can end a program that is stuck")]
    let registered = unsafe { low_level::register(signal, act) };
    registered.map(drop)
}

/// Whether whoever started the program wants it to go on without its terminal, as `nohup` does.
fn hangups_are_ignored() -> bool {
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    status.is_ok_and(|status| (status.sigign >> (SIGHUP - 1)) & 1 == 1)
}
