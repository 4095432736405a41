//! Records of TLS: which segments carry what an application said; those are paired by turns.

use aya_ebpf::{
    helpers::generated::{bpf_spin_lock, bpf_spin_unlock},
    macros::cgroup_skb,
    programs::SkBuffContext,
};
use observer_common::{Phase, Route};

use crate::{
    emit::emit,
    headers::Packet,
    packet::{segment, socket, srtt_eighths},
    storage::storage,
    tail::{once_more, told},
    walk::{Payload, claim},
};

/// Let every packet pass.
const PASS: i32 = 1;
/// Steps of one turn: a record takes one, and so does every byte of a header in two segments. A longer segment takes
/// several turns.
const STEPS: u32 = 4;

#[cgroup_skb]
fn records(context: SkBuffContext) -> i32 {
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
        let mut segment = segment(&packet, direction, socket, connection);
        if first && !claim(connection, direction) {
            return;
        }
        let admitted =
            !first || connection.admit_records(direction, segment.now, packet.sequence, packet.length);
        if admitted {
            let payload = Payload { context, header: packet.header };
            let mut more = true;
            for _ in 0..STEPS {
                if !connection.record_step(direction, &payload) {
                    more = false;
                    break;
                }
            }
            if more {
                once_more(context, Route::Records);
                // More records than anybody needs: what follows is not certain.
                connection.phase = Phase::Opaque;
            }
        }
        segment.silent = !connection.walker(direction).carries();
        connection.walker(direction).release();
        let lock = (&raw mut connection.lock).cast();
        bpf_spin_lock(lock);
        let step = connection.observe(&segment);
        bpf_spin_unlock(lock);
        emit(connection, &step, srtt_eighths(socket));
    }
}
