//! What the frame walker in the kernel tells about one frame (RFC 9113, section 4.1).

use observer_common::{Direction, FrameRecord, Place, Timestamp};

/// A frame, or a piece of one, as the walker saw it pass.
///
/// A frame that lies within one segment is one piece. Of a frame that is spread over several, the first piece is
/// told when its nine-byte header was complete, and the last one always where the frame ends a stream or carries
/// header fields.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// When the segment with this piece passed.
    pub now: Timestamp,
    /// Which way it travelled, seen from the observed socket.
    pub direction: Direction,
    /// Its type, one of [`kind`].
    pub kind: u8,
    /// Its flags, of [`flag`].
    pub flags: u8,
    /// The stream it belongs to, 0 for the connection.
    pub stream: u32,
    /// Bytes of payload of the whole frame, as its header says.
    pub length: u32,
    /// Where in the payload this piece begins: 0 for the one told when the frame's header was complete.
    pub offset: u32,
    /// The bytes of this piece that were kept: of HEADERS, CONTINUATION and `PUSH_PROMISE` all, of other frames a few
    /// from the beginning of the payload, fewer where the segment ended there.
    pub data: &'a [u8],
    /// Whether the frame's last byte passed with this piece.
    pub complete: bool,
    /// Consecutive number of the pieces in this direction of the connection, from 1. A jump means that some were
    /// lost.
    pub number: u32,
    /// Where it belongs among the pieces before, where segments passed in another order than that of their bytes.
    pub place: Place,
}

impl<'a> Frame<'a> {
    /// What a record tells, and the bytes that were kept.
    pub fn of(record: &FrameRecord, data: &'a [u8]) -> Self {
        Self {
            now: record.now,
            direction: if record.direction == 0 { Direction::Egress } else { Direction::Ingress },
            kind: record.frame,
            flags: record.flags,
            stream: record.stream,
            length: record.length,
            offset: record.offset,
            data,
            complete: record.complete == 1,
            number: record.number,
            place: record.place,
        }
    }

    /// Whether all of these flags are set.
    pub const fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }

    /// Whether it is the sender's last frame on its stream, header fields that follow apart.
    pub const fn ends_stream(&self) -> bool {
        matches!(self.kind, kind::DATA | kind::HEADERS) && self.has(flag::END_STREAM)
    }

    /// Whether it carries a part of a header block.
    pub const fn is_header(&self) -> bool {
        matches!(self.kind, kind::HEADERS | kind::PUSH_PROMISE | kind::CONTINUATION)
    }
}

/// Frame types (RFC 9113, section 6) that matter here.
pub mod kind {
    /// Content of a message.
    pub const DATA: u8 = 0x00;
    /// The header fields, or trailer fields, of a message.
    pub const HEADERS: u8 = 0x01;
    /// Somebody gives up one stream.
    pub const RST_STREAM: u8 = 0x03;
    /// The server announces a response that nobody asked for.
    pub const PUSH_PROMISE: u8 = 0x05;
    /// Somebody gives up the connection.
    pub const GOAWAY: u8 = 0x07;
    /// More of the header block before it.
    pub const CONTINUATION: u8 = 0x09;
}

/// Frame flags (RFC 9113, section 6) that matter here.
pub mod flag {
    /// Of DATA and HEADERS: the sender's last one on this stream.
    pub const END_STREAM: u8 = 0x01;
    /// Of HEADERS, `PUSH_PROMISE` and CONTINUATION: the header block ends with this frame.
    pub const END_HEADERS: u8 = 0x04;
    /// Of DATA, HEADERS and `PUSH_PROMISE`: the payload begins with the length of the padding at its end.
    pub const PADDED: u8 = 0x08;
    /// Of HEADERS: five bytes of priority precede the header fields.
    pub const PRIORITY: u8 = 0x20;
}

/// Error codes (RFC 9113, section 7) that matter here.
pub mod error {
    /// Nothing is wrong: the response is complete and the rest of the request is not needed.
    pub const NO_ERROR: u32 = 0x00;
}
