//! Frames of HTTP/2: walks over a segment's frames and reports each; the host pairs them by stream.

use aya_ebpf::{helpers::bpf_ktime_get_ns, macros::cgroup_skb, programs::SkBuffContext};
use observer_common::{
    BLOCK_PIECE, Connection, Direction, FrameRecord, Passed, Protocol, Route, SHORT_PIECE, TcpFlags,
    Timestamp,
};

use crate::{
    emit::{emit_opened, report},
    headers::Packet,
    heads::load,
    packet::{end_frames, socket, srtt_eighths},
    storage::storage,
    tail::{once_more, told},
    walk::{Payload, claim},
};

/// Let every packet pass.
const PASS: i32 = 1;
/// Steps of one turn; a longer segment takes several.
const STEPS: u32 = 10;
/// Header blocks up to this length take a short record.
const MIDDLE_PIECE: usize = 64;

#[cgroup_skb]
fn frames(context: SkBuffContext) -> i32 {
    // SAFETY: as the verifier checks.
    unsafe { walk(&context) };
    PASS
}

#[inline(always)]
unsafe fn walk(context: &SkBuffContext) {
    let (direction, first) = told(context);
    let Some(packet) = Packet::of(context) else { return };
    // SAFETY: reads of the context and calls of helpers, as the verifier checks them.
    unsafe {
        let Some(socket) = socket(context) else { return };
        let Some(connection) = storage(socket.cast(), false) else { return };
        let payload = Payload { context, header: packet.header };
        if !first || begin(connection, direction, &packet, &payload) {
            let mut more = true;
            for _ in 0..STEPS {
                let (passed, record) = connection.frame_step(direction, &payload);
                if !passed.more {
                    more = false;
                    break;
                }
                if let Some(record) = record {
                    tell(context, &packet, &passed, &record);
                }
            }
            if more {
                once_more(context, Route::Frames);
                connection.walker(direction).lose();
            }
            if let Some(record) = connection.end_frames(direction) {
                report::<FrameRecord>(|entry| entry.write(record));
            }
            connection.walker(direction).release();
        }
        // Also where the segment was seen before.
        if packet.flags & (TcpFlags::FIN | TcpFlags::RST) != 0 {
            end_frames(connection, direction, packet.flags, srtt_eighths(socket));
        }
    }
}

/// Claims the walker, and takes up the segment.
#[inline(always)]
unsafe fn begin(
    connection: &mut Connection,
    direction: Direction,
    packet: &Packet,
    payload: &Payload<'_>,
) -> bool {
    // SAFETY: as for the caller.
    unsafe {
        let now = Timestamp(bpf_ktime_get_ns());
        if !claim(connection, direction) {
            return false;
        }
        let older = !matches!(connection.protocol, Protocol::Http2);
        if older {
            connection.continue_http2();
            connection.walker(direction).claim();
        }
        let admitted = connection.admit_frames(direction, now, packet.sequence, payload, packet.length);
        if older {
            if admitted {
                emit_opened(connection, now, false);
            } else {
                connection.is_no_http2();
            }
        }
        if !admitted {
            connection.walker(direction).release();
        }
        admitted
    }
}

/// A record, and the bytes that were kept.
#[repr(C)]
struct Piece<const LENGTH: usize> {
    record: FrameRecord,
    data: [u8; LENGTH],
}

#[inline(always)]
unsafe fn tell(context: &SkBuffContext, packet: &Packet, passed: &Passed, record: &FrameRecord) {
    // SAFETY: as for the caller.
    unsafe {
        if record.kept as usize <= SHORT_PIECE {
            tell_piece::<SHORT_PIECE>(context, packet, passed, record);
        } else if record.kept as usize <= MIDDLE_PIECE {
            tell_piece::<MIDDLE_PIECE>(context, packet, passed, record);
        } else {
            tell_piece::<BLOCK_PIECE>(context, packet, passed, record);
        }
    }
}

#[inline(always)]
unsafe fn tell_piece<const LENGTH: usize>(
    context: &SkBuffContext,
    packet: &Packet,
    passed: &Passed,
    record: &FrameRecord,
) {
    report::<Piece<LENGTH>>(|piece| {
        // SAFETY: the entry is as long as a piece, and the verifier checks that what is copied fits.
        unsafe {
            (&raw mut (*piece).record).write(*record);
            let data = (&raw mut (*piece).data).cast();
            load::<LENGTH>(context, packet.header + passed.at, record.kept.into(), data);
        }
    });
}
