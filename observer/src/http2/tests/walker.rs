//! The kernel's frame walker, as the tests need it: bytes of segments go in, pieces of frames come out.

use observer_common::{Direction, Place, Timestamp};

use crate::http2::{Frame, flag, kind};

/// Bytes of DATA and control frames that are kept.
const KEPT: usize = 8;

/// One direction.
#[derive(Default)]
pub(super) struct Walker {
    header: Vec<u8>,
    current: Option<Current>,
    pub(super) number: u32,
}

#[derive(Clone, Copy)]
struct Current {
    kind: u8,
    flags: u8,
    stream: u32,
    length: usize,
    passed: usize,
}

impl Walker {
    pub(super) fn segment(
        &mut self,
        now: u64,
        direction: Direction,
        mut bytes: &[u8],
        emit: &mut dyn FnMut(&Frame<'_>),
    ) {
        loop {
            let (mut frame, first) = if let Some(frame) = self.current.take() {
                (frame, false)
            } else {
                let missing = (9 - self.header.len()).min(bytes.len());
                self.header.extend_from_slice(&bytes[..missing]);
                bytes = &bytes[missing..];
                if self.header.len() < 9 {
                    return;
                }
                let [a, b, c, kind, flags, stream @ ..]: [u8; 9] = self.header[..].try_into().unwrap();
                self.header.clear();
                let stream = u32::from_be_bytes(stream) & 0x7fff_ffff;
                let length = u32::from_be_bytes([0, a, b, c]) as usize;
                (Current { kind, flags, stream, length, passed: 0 }, true)
            };
            let here = (frame.length - frame.passed).min(bytes.len());
            let piece = &bytes[..here];
            bytes = &bytes[here..];
            let offset = frame.passed;
            frame.passed += here;
            let complete = frame.passed == frame.length;
            let header = matches!(frame.kind, kind::HEADERS | kind::PUSH_PROMISE | kind::CONTINUATION);
            let ends = frame.kind != kind::DATA || frame.flags & flag::END_STREAM != 0;
            let data = match frame.kind {
                _ if header => piece,
                kind::DATA if !first => &[],
                _ => &piece[..here.min(KEPT.saturating_sub(offset))],
            };
            let shows = frame.kind != kind::DATA && !data.is_empty();
            if first || shows || (complete && ends) {
                self.number += 1;
                emit(&Frame {
                    now: Timestamp(now),
                    direction,
                    kind: frame.kind,
                    flags: frame.flags,
                    stream: frame.stream,
                    length: u32::try_from(frame.length).unwrap(),
                    offset: u32::try_from(offset).unwrap(),
                    data,
                    complete,
                    number: self.number,
                    place: Place::InOrder,
                });
            }
            if !complete {
                self.current = Some(frame);
                return;
            }
        }
    }
}
