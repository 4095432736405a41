//! Header decompression of an onlooker (RFC 7541).
//!
//! The decoders on crates.io were looked at first. `loona-hpack`, `fluke-hpack` and `hpack-patched` (all three the
//! same code) build a hash map of 257 codes for every Huffman-coded string: 30 µs for one path, and seconds for a
//! header block made for that purpose. `httlib-hpack` reads past the end of a truncated block and panics. None of them
//! can read a block whose dynamic table is not known, which is what an observer has in front of it whenever it came
//! late. So this is a decoder of its own; `loona-hpack` is what the tests encode with and compare it with.

mod decoder;
mod dynamic_table;
mod huffman;
mod reader;
mod static_table;
#[cfg(test)]
mod tests;

pub(super) use decoder::Decoder;

/// A header block that is not encoded as it must be, or that is larger than anybody's need. Not an error type:
/// nobody is told, the observer only stops claiming to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;
