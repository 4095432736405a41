//! One event per exchange.

use aya_ebpf::bindings::BPF_RB_NO_WAKEUP;
use observer_common::{Completed, Connection, ExchangeRecord, Reason, Step};

use crate::{count::count, maps::EXCHANGES};

/// Hands over what a step brought about. `srtt_eighths` is only asked for where there is an exchange.
#[inline(always)]
pub(crate) fn emit(connection: &Connection, step: &Step, srtt_eighths: impl FnOnce() -> u32) {
    if let Some(reason) = step.uncertain {
        count(reason);
    }
    if let Some(completed) = step.completed() {
        send(connection, completed, srtt_eighths());
    }
}

#[inline(always)]
fn send(connection: &Connection, completed: &Completed, srtt_eighths: u32) {
    let Some(mut entry) = EXCHANGES.reserve(0) else {
        count(Reason::RingFull);
        return;
    };
    entry.write(ExchangeRecord {
        connection: connection.cookie,
        start: completed.start,
        sent: completed.sent,
        latency: completed.latency,
        complete: completed.complete,
        read_lag: completed.read_lag,
        request_bytes: completed.request_bytes,
        response_bytes: completed.response_bytes,
        number: completed.number,
        retransmits: completed.retransmits,
        srtt_eighths,
        pid: connection.pid,
        local: connection.local,
        remote: connection.remote,
        dialled: connection.dialled,
        comm: connection.comm,
        status: completed.status as u16,
        role: connection.role,
        protocol: completed.protocol,
        outcome: completed.outcome,
        reserved: [0; 7],
    });
    // User space looks every few milliseconds: no interrupt per event.
    entry.submit(BPF_RB_NO_WAKEUP.into());
    count(Reason::Emitted);
}
