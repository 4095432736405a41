//! HTTP/2 frames (RFC 9113, section 4.1), as far as the kernel takes them apart.

use crate::{FrameRecord, Passed, PayloadBytes, RecordKind, Walker, frames::LONGEST_HEADER};

/// Bytes of a frame header.
pub const FRAME_HEADER: usize = 9;
/// Bytes kept of a frame that is no header block: the length prefix of a gRPC message, an error code.
pub const SHORT_PIECE: usize = 16;
/// Bytes kept of a header block at once; longer ones come in pieces.
pub const BLOCK_PIECE: usize = 512;

/// The same, as segments count.
const HEADER: u32 = 9;
const LONGEST_OTHER: u32 = 16;
const LONGEST_BLOCK: u32 = 512;
const _: () = assert!(
    HEADER as usize == FRAME_HEADER
        && LONGEST_OTHER as usize == SHORT_PIECE
        && LONGEST_BLOCK as usize == BLOCK_PIECE
);

/// Frames longer than this are no certain boundary: implementations ask for 16 KiB, rarely for more.
const LONGEST_PLAUSIBLE: u32 = 1 << 20;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;

#[inline(always)]
const fn payload_length(header: &[u8; LONGEST_HEADER]) -> u32 {
    u32::from_be_bytes([0, header[0], header[1], header[2]])
}

#[inline(always)]
const fn stream(header: &[u8; LONGEST_HEADER]) -> u32 {
    u32::from_be_bytes([header[5], header[6], header[7], header[8]]) & 0x7fff_ffff
}

#[inline(always)]
const fn is_block(kind: u8) -> bool {
    matches!(kind, HEADERS | PUSH_PROMISE | CONTINUATION)
}

/// Whether these bytes can be a frame header (RFC 9113, sections 4.1 and 6).
#[inline(always)]
pub(crate) const fn plausible(header: &[u8; LONGEST_HEADER]) -> bool {
    let length = payload_length(header);
    let stream = stream(header);
    if header[5] & 0x80 != 0 || length > LONGEST_PLAUSIBLE {
        return false;
    }
    match header[3] {
        DATA | HEADERS | CONTINUATION => stream & 1 == 1,
        PUSH_PROMISE => stream & 1 == 1 && length >= 4,
        PRIORITY => stream != 0 && length == 5,
        RST_STREAM => stream != 0 && length == 4,
        SETTINGS => stream == 0 && length.is_multiple_of(6) && length < 256,
        PING => stream == 0 && length == 8,
        GOAWAY => stream == 0 && length >= 8,
        WINDOW_UPDATE => length == 4,
        _ => false,
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "no more is kept than fits")]
const fn least_u16(kept: u32) -> u16 {
    kept as u16
}

impl Walker {
    /// One step through HTTP/2.
    #[inline(always)]
    pub fn frame_step(&mut self, payload: &impl PayloadBytes<FRAME_HEADER>) -> Passed {
        self.step(
            payload,
            payload_length,
            |header| {
                if is_block(header[3]) { LONGEST_BLOCK } else { u32::MAX }
            },
        )
    }

    /// Whether the segment at hand begins with a certain frame: a plausible header, behind whose frame the segment
    /// ends or another plausible header stands.
    #[inline(always)]
    pub fn finds_frame(&self, payload: &impl PayloadBytes<FRAME_HEADER>) -> bool {
        let mut header = [0; LONGEST_HEADER];
        let end = self.segment_length();
        if end < HEADER || !payload.header(0, &mut header) || !plausible(&header) {
            return false;
        }
        let next = HEADER + payload_length(&header);
        if next == end {
            return true;
        }
        next.wrapping_add(HEADER) <= end && payload.header(next, &mut header) && plausible(&header)
    }

    /// The record of a piece, where it is one that tells something: header blocks whole, of all else the beginning,
    /// and the end of a stream.
    #[inline(always)]
    pub fn frame_record(&mut self, passed: &Passed, connection: u64, direction: u8) -> Option<FrameRecord> {
        let header = self.header();
        let (kind, flags) = (header[3], header[4]);
        let told = match kind {
            // Of control frames a few bytes, which may come in two segments.
            HEADERS | PUSH_PROMISE | CONTINUATION | RST_STREAM | GOAWAY => true,
            DATA => passed.first || (passed.complete && flags & END_STREAM != 0),
            _ => false,
        };
        if !told {
            return None;
        }
        let number = self.count();
        let most = if is_block(kind) { LONGEST_BLOCK } else { LONGEST_OTHER };
        // Of content only the beginning tells something.
        let most = if matches!(kind, DATA) && !passed.first { 0 } else { most };
        let kept = if passed.bytes < most { passed.bytes } else { most };
        Some(FrameRecord {
            kind: RecordKind::Frame,
            number,
            connection,
            now: self.now,
            length: payload_length(&header),
            stream: stream(&header),
            offset: passed.offset,
            kept: least_u16(kept),
            frame: kind,
            flags,
            direction,
            complete: u8::from(passed.complete),
            place: self.place(),
            reserved: [0; 5],
        })
    }
}
