//! A bound on what one record of a text file may take: garbage has no end of line.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

/// Bytes that a record may have.
pub(super) const LONGEST_RECORD: usize = 1 << 20;

/// What is read ahead of a record's end, by all buffers together.
const READ_AHEAD: usize = 1 << 17;

/// How many bytes may still be read for the record at hand.
#[derive(Clone, Debug)]
pub(super) struct Budget(Rc<Cell<usize>>);

impl Budget {
    /// A budget for the first record.
    pub(super) fn new() -> Self {
        Self(Rc::new(Cell::new(LONGEST_RECORD + READ_AHEAD)))
    }

    /// A record is complete: the next one may take as much again.
    pub(super) fn renew(&self) {
        self.0.set(LONGEST_RECORD + READ_AHEAD);
    }

    /// Whether reading ended for want of it.
    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// A source that is read within a budget.
#[derive(Debug)]
pub(super) struct Bounded<R> {
    pub(super) source: R,
    pub(super) budget: Budget,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.budget.is_spent() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let count = self.source.read(bytes)?;
        self.budget.0.set(self.budget.0.get().saturating_sub(count));
        Ok(count)
    }
}
