//! Standard error: notes, progress, errors. Each is one line, whatever the names in it are.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use crate::printable::printable;

/// Progress is shown of what takes longer than this, and as often.
const PROGRESS: Duration = Duration::from_secs(1);

/// What is said besides the result. A failing standard error is nobody's concern.
#[derive(Debug)]
pub(super) struct Console {
    quiet: bool,
    shows_progress: bool,
    progress_due: Instant,
    progress_shown: bool,
}

impl Console {
    /// A console that says nothing but errors if it is `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            shows_progress: !quiet && io::stderr().is_terminal(),
            progress_due: Instant::now() + PROGRESS,
            progress_shown: false,
        }
    }

    /// Something that the reader of the result should know.
    pub(super) fn note(&mut self, text: &str) {
        self.clear_progress();
        if !self.quiet {
            let _ = writeln!(io::stderr(), "observer: note: {}", printable(text));
        }
    }

    /// Something that may make the result worthless.
    pub(super) fn warning(&mut self, text: &str) {
        self.clear_progress();
        if !self.quiet {
            let _ = writeln!(io::stderr(), "observer: warning: {}", printable(text));
        }
    }

    /// Says that from now on nothing is missed: who starts traffic that is to be observed waits for this line.
    pub(super) fn observing(&mut self) {
        self.clear_progress();
        if !self.quiet {
            let _ = writeln!(io::stderr(), "observing");
        }
    }

    /// Why there is no result.
    pub(super) fn error(&mut self, text: &str) {
        self.clear_progress();
        let _ = writeln!(io::stderr(), "observer: {}", printable(text));
    }

    /// Shows how far it is, if that is due.
    pub(super) fn progress(&mut self, text: impl FnOnce() -> String) {
        let now = Instant::now();
        if self.shows_progress && now >= self.progress_due {
            self.progress_due = now + PROGRESS;
            self.progress_shown = true;
            let _ = write!(io::stderr(), "\r\x1b[K{}", printable(&text()));
        }
    }

    /// Removes what [`Self::progress`] shows.
    pub(super) fn clear_progress(&mut self) {
        if self.progress_shown {
            self.progress_shown = false;
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
