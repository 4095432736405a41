//! What the client and the server log of every request: kept in memory, written when they are done.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use observer_common::Timestamp;

/// A log's entry: a fixed number of 64-bit words.
pub trait Entry<const WORDS: usize>: Sized {
    /// As words.
    fn to_words(&self) -> [u64; WORDS];
    /// From words.
    fn from_words(words: [u64; WORDS]) -> Self;
}

/// One request, as its client saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientEntry {
    /// The cookie of the client's socket.
    pub connection: u64,
    /// The request.
    pub id: u64,
    /// Before the first write of the request.
    pub before_write: Timestamp,
    /// After the read that returned the first response byte.
    pub first_read: Timestamp,
    /// After the read that returned the last response byte.
    pub last_read: Timestamp,
    /// How many bytes the request had.
    pub request_bytes: u64,
    /// How many bytes the response had.
    pub response_bytes: u64,
}

impl Entry<7> for ClientEntry {
    fn to_words(&self) -> [u64; 7] {
        [
            self.connection,
            self.id,
            self.before_write.0,
            self.first_read.0,
            self.last_read.0,
            self.request_bytes,
            self.response_bytes,
        ]
    }

    fn from_words(words: [u64; 7]) -> Self {
        let [connection, id, before_write, first_read, last_read, request_bytes, response_bytes] = words;
        Self {
            connection,
            id,
            before_write: Timestamp(before_write),
            first_read: Timestamp(first_read),
            last_read: Timestamp(last_read),
            request_bytes,
            response_bytes,
        }
    }
}

/// One request, as its server saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerEntry {
    /// The cookie of the server's socket.
    pub connection: u64,
    /// The request.
    pub id: u64,
    /// After the read that returned the first request byte.
    pub first_read: Timestamp,
    /// After the read that returned the last request byte.
    pub last_read: Timestamp,
    /// Before the first write of the response.
    pub before_write: Timestamp,
    /// Before the write that carried the last byte of the response.
    pub before_last_write: Timestamp,
    /// After that write.
    pub after_write: Timestamp,
}

impl Entry<7> for ServerEntry {
    fn to_words(&self) -> [u64; 7] {
        [
            self.connection,
            self.id,
            self.first_read.0,
            self.last_read.0,
            self.before_write.0,
            self.before_last_write.0,
            self.after_write.0,
        ]
    }

    fn from_words(words: [u64; 7]) -> Self {
        let [connection, id, first_read, last_read, before_write, before_last_write, after_write] = words;
        Self {
            connection,
            id,
            first_read: Timestamp(first_read),
            last_read: Timestamp(last_read),
            before_write: Timestamp(before_write),
            before_last_write: Timestamp(before_last_write),
            after_write: Timestamp(after_write),
        }
    }
}

/// Writes a log.
pub fn write<const WORDS: usize, E: Entry<WORDS>>(path: &Path, entries: &[E]) -> Result<()> {
    let words = entries.iter().flat_map(Entry::to_words);
    let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    std::fs::write(path, bytes).with_context(|| format!("write the log {}", path.display()))
}

/// Reads a log.
pub fn read<const WORDS: usize, E: Entry<WORDS>>(path: &Path) -> Result<Vec<E>> {
    let bytes = std::fs::read(path).with_context(|| format!("read the log {}", path.display()))?;
    let (words, rest) = bytes.as_chunks::<8>();
    let (entries, left) = words.as_chunks::<WORDS>();
    ensure!(rest.is_empty() && left.is_empty(), "the log {} is cut short", path.display());
    Ok(entries.iter().map(|entry| E::from_words(entry.map(u64::from_le_bytes))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_survive_the_file() {
        let entry = |id| ClientEntry {
            connection: 1,
            id,
            before_write: Timestamp(2),
            first_read: Timestamp(3),
            last_read: Timestamp(4),
            request_bytes: 5,
            response_bytes: 6,
        };
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.path(), &[entry(10), entry(11)]).unwrap();
        assert_eq!(read::<7, ClientEntry>(file.path()).unwrap(), [entry(10), entry(11)]);
    }
}
