//! Messages with a type and a length, both ways.

/// Longer messages are not believed.
const LONGEST: u32 = 1 << 30;

/// A message, as far as it was kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    /// What kind it is.
    pub(super) kind: u8,
    /// What was kept behind its length.
    pub(super) body: &'a [u8],
    /// Whether that is all of it.
    pub(super) whole: bool,
    /// Where it ends, counted from the beginning of the turn's half.
    pub(super) end: u64,
}

/// The messages at the beginning of one half of a turn.
#[derive(Clone, Debug)]
pub(super) struct Messages<'a> {
    kept: &'a [u8],
    bytes: u64,
    position: u64,
}

impl<'a> Messages<'a> {
    pub(super) const fn new(kept: &'a [u8], bytes: u64) -> Self {
        Self { kept, bytes, position: 0 }
    }

    /// How many bytes come behind the messages that were read, whether kept or not.
    pub(super) const fn left(&self) -> u64 {
        self.bytes.saturating_sub(self.position)
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let rest = self.kept.get(usize::try_from(self.position).ok()?..)?;
        let (&kind, sized) = rest.split_first()?;
        if !kind.is_ascii_alphanumeric() {
            return None;
        }
        let length = be32(sized, 0)?;
        if !(4..LONGEST).contains(&length) {
            return None;
        }
        let kept = sized.get(4..).unwrap_or_default();
        let wanted = length as usize - 4;
        self.position += u64::from(length) + 1;
        Some(Message {
            kind,
            body: kept.get(..wanted).unwrap_or(kept),
            whole: kept.len() >= wanted,
            end: self.position,
        })
    }
}

/// A number of four bytes at some place.
pub(super) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_be_bytes)
}

/// Splits a text off that ends with a zero byte; nothing where its end was not kept.
pub(super) fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    Some((bytes.get(..end)?, bytes.get(end + 1..)?))
}
