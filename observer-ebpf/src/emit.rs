//! Records on their way to user space.

use core::mem::MaybeUninit;

use aya_ebpf::{bindings::BPF_RB_NO_WAKEUP, programs::SkBuffContext};
use observer_common::{
    Connection, ConnectionRecord, ExchangeRecord, Outcome, PAYLOAD_LENGTH, PayloadRecord, Reason, RecordKind,
    Step, Timestamp,
};

use crate::{
    count::{count, count_index},
    heads::load,
    maps::EXCHANGES,
};

/// Hands over a record that `fill` writes where it will lie. Where there is no room it is lost and counted.
#[inline(always)]
pub(crate) fn report<T: 'static>(fill: impl FnOnce(*mut T)) {
    let Some(mut entry) = EXCHANGES.reserve_untyped::<T>(0) else {
        count(Reason::RingFull);
        return;
    };
    fill(MaybeUninit::as_mut_ptr(&mut entry));
    // User space looks every few milliseconds: no interrupt per event.
    entry.submit(BPF_RB_NO_WAKEUP.into());
}

/// Hands over what a step brought about. `srtt_eighths` is only asked for where there is an exchange.
#[inline(always)]
pub(crate) fn emit(connection: &Connection, step: &Step, srtt_eighths: impl FnOnce() -> u32) {
    let [ended, began] = step.reasons();
    count_index(ended);
    count_index(began);
    if let Some(completed) = step.completed() {
        let srtt_eighths = srtt_eighths();
        // SAFETY: the entry is as long as the record.
        // Part by part: the stack has no room for a whole one.
        report(|entry: *mut ExchangeRecord| unsafe {
            (&raw mut (*entry).kind).write(RecordKind::Exchange);
            (&raw mut (*entry).srtt_eighths).write(srtt_eighths);
            (&raw mut (*entry).completed).copy_from_nonoverlapping(completed, 1);
            (&raw mut (*entry).parties).copy_from_nonoverlapping(&raw const connection.parties, 1);
            (&raw mut (*entry).heads).copy_from_nonoverlapping(&raw const connection.heads, 1);
            (&raw mut (*entry).kept).write(connection.kept);
            (&raw mut (*entry).reserved).write([0; 6]);
        });
        count(Reason::Emitted);
    }
}

/// Frames of a connection follow.
#[inline(always)]
pub(crate) fn emit_opened(connection: &Connection, now: Timestamp, whole: bool) {
    emit_connection(connection, RecordKind::Opened, now, Outcome::Ok, 0, whole);
}

/// Frames of a connection have ended.
#[inline(always)]
pub(crate) fn emit_closed(connection: &Connection, now: Timestamp, outcome: Outcome, srtt_eighths: u32) {
    emit_connection(connection, RecordKind::Closed, now, outcome, srtt_eighths, false);
}

#[inline(always)]
fn emit_connection(
    connection: &Connection,
    kind: RecordKind,
    now: Timestamp,
    outcome: Outcome,
    srtt_eighths: u32,
    whole: bool,
) {
    // SAFETY: the entry is as long as the record.
    report(|entry: *mut ConnectionRecord| unsafe {
        (&raw mut (*entry).kind).write(kind);
        (&raw mut (*entry).srtt_eighths).write(srtt_eighths);
        (&raw mut (*entry).now).write(now);
        (&raw mut (*entry).parties).copy_from_nonoverlapping(&raw const connection.parties, 1);
        (&raw mut (*entry).role).write(connection.role);
        (&raw mut (*entry).outcome).write(outcome);
        (&raw mut (*entry).whole).write(whole as u8);
        (&raw mut (*entry).reserved).write([0; 5]);
    });
}

/// The beginning of a payload.
#[inline(always)]
pub(crate) fn emit_payload(
    context: &SkBuffContext,
    header: u32,
    length: u32,
    kind: RecordKind,
    connection: u64,
    stream: bool,
) {
    report(|entry: *mut PayloadRecord| {
        // SAFETY: the entry is as long as the record; the verifier checks that what is copied fits.
        unsafe {
            (&raw mut (*entry).kind).write(kind);
            (&raw mut (*entry).truncated).write((length > PAYLOAD_LENGTH as u32) as u8);
            (&raw mut (*entry).stream).write(stream as u8);
            (&raw mut (*entry).connection).write(connection);
            let data = (&raw mut (*entry).data).cast();
            let kept = load::<PAYLOAD_LENGTH>(context, header, length, data);
            (&raw mut (*entry).kept).write(kept as u16);
        }
    });
}
