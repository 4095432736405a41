//! Packets: three bytes of length, one of sequence.

/// How long the header of a packet is.
pub(super) const HEADER: usize = 4;

/// A packet, as far as it was kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    /// Its number within one command's dialogue, from zero.
    pub(super) sequence: u8,
    /// How long its payload is.
    pub(super) length: usize,
    /// What was kept of its payload.
    pub(super) body: &'a [u8],
    /// Where it ends, counted from the beginning of the turn's half.
    pub(super) end: u64,
}

impl Packet<'_> {
    /// Whether its payload was kept to the end.
    pub(super) const fn is_whole(&self) -> bool {
        self.body.len() == self.length
    }
}

/// The packets at the beginning of one half of a turn; an empty one ends them.
#[derive(Clone, Debug)]
pub(super) struct Packets<'a> {
    kept: &'a [u8],
    position: usize,
}

impl<'a> Packets<'a> {
    pub(super) const fn new(kept: &'a [u8]) -> Self {
        Self { kept, position: 0 }
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Packet<'a>;

    fn next(&mut self) -> Option<Packet<'a>> {
        let (header, kept) = self.kept.get(self.position..)?.split_first_chunk::<HEADER>()?;
        let [low, middle, high, sequence] = *header;
        let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
        if length == 0 {
            return None;
        }
        self.position += HEADER + length;
        let body = kept.get(..length).unwrap_or(kept);
        Some(Packet { sequence, length, body, end: self.position as u64 })
    }
}

/// A number of two bytes at some place.
pub(super) fn le16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

/// A number of four bytes at some place.
pub(super) fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}
