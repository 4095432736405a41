//! What a walker sets aside to walk over something else meanwhile.

use crate::{Heads, frames::LONGEST_HEADER};

/// Where a walker stands.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    /// Sequence number of the next byte.
    pub(crate) next: u32,
    /// Payload bytes of the current frame that are still to come.
    pub(crate) left: u32,
    /// How many bytes of the next header have come.
    pub(crate) have: u8,
    /// The header of the current frame, or as much of it as has come.
    pub(crate) header: [u8; LONGEST_HEADER],
}

/// What is set aside: a position, and where the hole ends.
///
/// It lies where requests by turns begin, which a connection that carries frames has none of.
#[derive(Clone, Copy)]
pub(crate) struct Aside {
    /// Where the hole begins; or, while that is walked over, where the walker goes on behind it.
    pub(crate) position: Position,
    /// Sequence number behind the hole.
    pub(crate) end: u32,
}

/// Bytes of that.
const ASIDE: usize = 22;

impl Aside {
    #[inline(always)]
    pub(crate) fn read(heads: &Heads) -> Self {
        let [n0, n1, n2, n3, l0, l1, l2, l3, e0, e1, e2, e3, have, header @ ..] =
            *heads.request.first_chunk::<ASIDE>().unwrap_or(&[0; ASIDE]);
        Self {
            position: Position {
                next: u32::from_le_bytes([n0, n1, n2, n3]),
                left: u32::from_le_bytes([l0, l1, l2, l3]),
                have,
                header,
            },
            end: u32::from_le_bytes([e0, e1, e2, e3]),
        }
    }

    #[inline(always)]
    pub(crate) fn write(self, heads: &mut Heads) {
        let Position { next, left, have, header } = self.position;
        let mut bytes = [0; ASIDE];
        bytes[..4].copy_from_slice(&next.to_le_bytes());
        bytes[4..8].copy_from_slice(&left.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.end.to_le_bytes());
        bytes[12] = have;
        bytes[13..].copy_from_slice(&header);
        if let Some(place) = heads.request.first_chunk_mut() {
            *place = bytes;
        }
    }
}
