//! A child never outlives its parent, however the parent ends.
//!
//! The child's standard output is a pipe that nobody writes to. Its other end closes with the parent, even if the
//! parent is killed.

use std::{io, thread};

use rustix::event::{PollFd, PollFlags, poll};

/// From now on this process ends when the reader of its standard output does.
pub(super) fn hold() -> io::Result<()> {
    thread::Builder::new().name("lifeline".into()).spawn(|| {
        let output = io::stdout();
        // Only hang-ups and errors are reported, and those always are.
        let mut descriptors = [PollFd::new(&output, PollFlags::empty())];
        while poll(&mut descriptors, None) == Err(rustix::io::Errno::INTR) {}
        std::process::exit(1);
    })?;
    Ok(())
}
