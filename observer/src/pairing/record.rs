//! What a source hands over, before names and streams make exchanges of it.

use observer_common::{
    ConnectionRecord, ExchangeRecord, FrameRecord, PAYLOAD_LENGTH, PayloadRecord, RecordKind,
};
use zerocopy::TryFromBytes;

/// One record: from the ring of the probes, or from the same state machine run over a packet capture.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// An exchange paired by turns.
    Exchange(&'a ExchangeRecord),
    /// A frame of HTTP/2 or a piece of one, and the bytes of it that were kept.
    Frame(&'a FrameRecord, &'a [u8]),
    /// A connection whose frames follow.
    Opened(&'a ConnectionRecord),
    /// A connection whose frames have ended.
    Closed(&'a ConnectionRecord),
    /// What a TLS client said first.
    Hello(&'a PayloadRecord),
    /// What a name server answered.
    Names(&'a PayloadRecord),
}

impl<'a> Record<'a> {
    /// Takes apart the bytes of a record; nothing where they are none, as from an object of another build.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (kind, _) = RecordKind::try_read_from_prefix(bytes).ok()?;
        Some(match kind {
            RecordKind::Exchange => Self::Exchange(ExchangeRecord::try_ref_from_bytes(bytes).ok()?),
            RecordKind::Frame => {
                let (frame, data) = FrameRecord::try_ref_from_prefix(bytes).ok()?;
                Self::Frame(frame, data.get(..usize::from(frame.kept))?)
            }
            RecordKind::Opened => Self::Opened(ConnectionRecord::try_ref_from_bytes(bytes).ok()?),
            RecordKind::Closed => Self::Closed(ConnectionRecord::try_ref_from_bytes(bytes).ok()?),
            RecordKind::Hello => Self::Hello(payload(bytes)?),
            RecordKind::Names => Self::Names(payload(bytes)?),
        })
    }
}

fn payload(bytes: &[u8]) -> Option<&PayloadRecord> {
    let record = PayloadRecord::try_ref_from_bytes(bytes).ok()?;
    (usize::from(record.kept) <= PAYLOAD_LENGTH).then_some(record)
}
