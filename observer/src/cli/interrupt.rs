//! The first interrupt ends the observation, the second one the program.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use super::failure::Failure;

/// What a shell reports for a program that an interrupt ended.
const INTERRUPTED_TWICE: i32 = 130;

/// Whether somebody wants an early end.
#[derive(Clone, Debug)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on, the first interrupt or termination signal is only noted.
    pub(super) fn watch() -> Result<Self, Failure> {
        let noted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            let register = || -> io::Result<()> {
                flag::register_conditional_shutdown(signal, INTERRUPTED_TWICE, Arc::clone(&noted))?;
                flag::register(signal, Arc::clone(&noted))?;
                Ok(())
            };
            register().map_err(|error| {
                Failure::Running(anyhow::anyhow!("cannot watch for signal {signal}: {error}; try again"))
            })?;
        }
        Ok(Self(noted))
    }

    /// Whether it was noted.
    pub(super) fn is_noted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
