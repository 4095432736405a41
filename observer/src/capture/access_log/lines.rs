//! The lines of a file, none of them longer than may be.

use std::{
    borrow::Cow,
    io::{self, BufRead as _, BufReader, Cursor, Read},
};

use crate::capture::budget::{Bounded, Budget};

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads line by line.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<Bounded<R>>,
    budget: Budget,
    bytes: Vec<u8>,
    read: u64,
}

/// A line without its end.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether it had an end.
    pub(super) ended: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        let budget = Budget::new();
        let input = BufReader::with_capacity(1 << 16, Bounded { source, budget: budget.clone() });
        Self { input, budget, bytes: Vec::new(), read: 0 }
    }

    /// The number of the line that comes next, from 1.
    pub(super) fn next_number(&self) -> u64 {
        self.read + 1
    }

    /// What a line may take; spent where one was too long.
    pub(super) fn budget(&self) -> Budget {
        self.budget.clone()
    }

    /// All that was not read yet, without a bound.
    pub(super) fn into_rest(self) -> impl Read {
        let ahead = self.input.buffer().to_vec();
        Cursor::new(ahead).chain(self.input.into_inner().source)
    }

    /// The next line; what is no UTF-8 in it is replaced.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.budget.renew();
        self.bytes.clear();
        if self.input.read_until(b'\n', &mut self.bytes)? == 0 {
            return Ok(None);
        }
        self.read += 1;
        let mut line = self.bytes.as_slice();
        if self.read == 1 {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        let ended = line.ends_with(b"\n");
        line = line.strip_suffix(b"\n").unwrap_or(line);
        line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Some(Line { text: String::from_utf8_lossy(line), ended }))
    }
}
