//! Integers and strings of a header block (RFC 7541, section 5).

use super::{Malformed, huffman};

/// Bytes after the prefix that an integer may take: 28 bits, far beyond the length of any block.
const MOST_CONTINUATIONS: u32 = 4;

/// What is left of a header block.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of the whole block.
    pub(super) const fn new(block: &'a [u8]) -> Self {
        Self { rest: block }
    }

    /// The next byte, or nothing at the end of the block.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// An integer whose first byte, `first`, holds `bits` bits of it (section 5.1).
    pub(super) fn integer(&mut self, first: u8, bits: u32) -> Result<usize, Malformed> {
        let mask = (1_usize << bits) - 1;
        let mut value = usize::from(first) & mask;
        if value < mask {
            return Ok(value);
        }
        for continuation in 0..MOST_CONTINUATIONS {
            let byte = self.byte().ok_or(Malformed)?;
            value += usize::from(byte & 0x7f) << (7 * continuation);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    /// A string (section 5.2): a slice of the block, or of `scratch` where it had to be decoded.
    pub(super) fn string<'s>(&mut self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8], Malformed>
    where
        'a: 's,
    {
        let first = self.byte().ok_or(Malformed)?;
        let length = self.integer(first, 7)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        if first & 0x80 == 0 {
            return Ok(bytes);
        }
        scratch.clear();
        huffman::decode(bytes, scratch)?;
        Ok(scratch)
    }
}
