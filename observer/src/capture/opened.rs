//! A recording that is open: a file, or what passes through a pipe.

use std::{
    fs::File,
    io::{self, Cursor, Read, Seek as _, Write as _},
    os::fd::AsFd as _,
    path::Path,
};

/// How many first bytes tell the format: some lines of an access log, which may begin with others.
const HEAD_BYTES: u64 = 1 << 16;

/// An open recording whose first bytes were looked at.
#[derive(Debug)]
pub struct Opened {
    head: Vec<u8>,
    file: File,
}

impl Opened {
    /// Opens what has this name: a file, or a pipe, which is read once.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(File::open(path)?)
    }

    /// Reads from standard input.
    pub fn standard_input() -> io::Result<Self> {
        Self::of(io::stdin().as_fd().try_clone_to_owned()?.into())
    }

    fn of(mut file: File) -> io::Result<Self> {
        let mut head = Vec::new();
        Read::by_ref(&mut file).take(HEAD_BYTES).read_to_end(&mut head)?;
        Ok(Self { head, file })
    }

    /// The first 64 KiB; fewer only where there are no more.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// All of it from the beginning, once.
    pub(super) fn into_stream(self) -> impl Read {
        Cursor::new(self.head).chain(self.file)
    }

    /// A file at its beginning, which can be read in any order. What came through a pipe is copied into one without a
    /// name.
    pub fn into_file(mut self) -> io::Result<File> {
        if !self.file.metadata()?.is_file() {
            let mut copy = tempfile::tempfile()?;
            copy.write_all(&self.head)?;
            io::copy(&mut self.file, &mut copy)?;
            self.file = copy;
        }
        self.file.rewind()?;
        Ok(self.file)
    }
}
