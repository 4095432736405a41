//! A hash that is the same in every run, so that recordings can be compared (FNV-1a, 64 bits).

/// A hash that bytes are added to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash(u64);

impl Hash {
    pub(super) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(super) const fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
    }

    pub(super) fn of(bytes: &[u8]) -> u64 {
        let mut hash = Self::new();
        for &byte in bytes {
            hash.add(byte);
        }
        hash.0
    }

    /// Its upper half.
    pub(super) const fn short(self) -> u32 {
        (self.0 >> 32) as u32
    }
}
