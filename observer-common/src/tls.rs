//! TLS records (RFC 8446, section 5.1; RFC 5246, section 6.2): which of them carry what an application said.
//!
//! Everything but application data is handshake, alert or bookkeeping. TLS 1.3 hides its handshake in records that
//! look like application data, so these are told by their place and by their length:
//!
//! - the answering side's before the asking side has finished its handshake are handshake;
//! - the asking side's up to its Finished message are handshake. Finished is 53 or 69 bytes long (4 bytes of header,
//!   the hash, 1 byte of type, 16 of tag);
//! - session tickets come once Finished has arrived: before the first request, or as the first part of its answer,
//!   in which case nobody can tell where the answer begins. The first turn is always left out, and counted;
//! - an alert is 19 bytes long, a key update 22. Content of these lengths looks the same, so that it makes the turn
//!   doubtful (`doubts`); within an answer 22 bytes are content.

use crate::{
    Connection, Passed, PayloadBytes, Phase, Walker,
    frames::LONGEST_HEADER,
    volatile::{get, set},
};

/// Bytes of a record header.
pub const RECORD_HEADER: usize = 5;

const HANDSHAKE: u8 = 22;
const APPLICATION_DATA: u8 = 23;
/// Record lengths in TLS 1.3.
const FINISHED_SHA256: u32 = 53;
const FINISHED_SHA384: u32 = 69;
const ALERT: u32 = 19;
pub(crate) const KEY_UPDATE: u32 = 22;
/// How many records the asking side's part of a handshake has at most, certificates included.
const MOST_HANDSHAKE_RECORDS: u32 = 16;

/// How far TLS has come on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(u8)]
pub enum TlsStage {
    /// No TLS, or not from its beginning.
    #[default]
    None = 0,
    /// The asking side has said hello.
    Hello = 1,
    /// The answering side has, too.
    Answered = 2,
    /// TLS 1.3: the answering side is through, the asking side is not.
    Finishing = 3,
    /// TLS 1.3: tickets may come in front of the first answer.
    Tickets = 4,
    /// TLS 1.3, nothing but application data, alerts and key updates.
    Modern = 5,
    /// TLS 1.2 and before, where every record says what it is.
    Classic = 6,
}

impl Connection {
    /// Takes in the header of one record: whether what it carries counts.
    #[inline(always)]
    pub(crate) fn tls_record(&mut self, request: bool, kind: u8, length: u32, seen: u32) -> bool {
        let stage = get(&self.tls);
        if kind != APPLICATION_DATA {
            if kind == HANDSHAKE && !request && matches!(stage, TlsStage::Hello) {
                set(&mut self.tls, TlsStage::Answered);
            }
            return false;
        }
        match (stage, request) {
            // Data before the handshake (0-RTT): from here on nothing tells handshake from data.
            (TlsStage::None | TlsStage::Hello, true) => {
                set(&mut self.phase, Phase::Opaque);
                false
            }
            (TlsStage::Answered, true) => {
                set(&mut self.tls, TlsStage::Classic);
                true
            }
            (TlsStage::Finishing, true) => {
                if matches!(length, FINISHED_SHA256 | FINISHED_SHA384) {
                    set(&mut self.tls, TlsStage::Tickets);
                } else if seen > MOST_HANDSHAKE_RECORDS {
                    set(&mut self.phase, Phase::Opaque);
                }
                false
            }
            (TlsStage::None, false) => false,
            (TlsStage::Hello | TlsStage::Answered | TlsStage::Finishing, false) => {
                set(&mut self.tls, TlsStage::Finishing);
                false
            }
            // One has come, another may follow in front of the first answer.
            (TlsStage::Tickets, false) if matches!(get(&self.phase), Phase::Idle) => false,
            (TlsStage::Tickets | TlsStage::Modern, _) => {
                !matches!(length, ALERT | KEY_UPDATE) || self.short_record(request, length)
            }
            (TlsStage::Classic, _) => true,
        }
    }
}

#[inline(always)]
const fn payload_length(header: &[u8; LONGEST_HEADER]) -> u32 {
    u32::from_be_bytes([0, 0, header[3], header[4]])
}

#[inline(always)]
const fn plausible(header: &[u8; LONGEST_HEADER]) -> bool {
    matches!(header[0], 20..=24) && header[1] == 3 && header[2] <= 4
}

impl Walker {
    /// One step through TLS records.
    #[inline(always)]
    pub fn record_step(&mut self, payload: &impl PayloadBytes<RECORD_HEADER>) -> Passed {
        self.step(payload, payload_length, |_| u32::MAX)
    }

    /// Type and length of the current record; nothing where it is none.
    #[inline(always)]
    pub fn record(&self) -> Option<(u8, u32)> {
        let header = self.header();
        if plausible(&header) { Some((header[0], payload_length(&header))) } else { None }
    }
}
