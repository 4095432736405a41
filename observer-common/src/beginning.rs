//! How a turn begins: what its first bytes say, and whether it is certain so far.

use crate::{Connection, HeadKind, Phase, Protocol, Reason, Segment, Step, Timestamp, TlsStage};

impl Connection {
    /// A request begins with this segment.
    #[inline(always)]
    pub(crate) fn begin(&mut self, segment: &Segment, fresh: u32) {
        let doubtful = self.inherits_doubts();
        match self.at_hand.head() {
            HeadKind::HttpRequest if !matches!(self.protocol, Protocol::Other | Protocol::Mysql) => {
                self.protocol = Protocol::Http1;
            }
            // MySQL begins with a greeting and then asks for encryption.
            HeadKind::TlsRecord if matches!(self.protocol, Protocol::Unknown | Protocol::Mysql) => {
                self.protocol = Protocol::Tls;
                if self.number == 0 {
                    self.begin_tls(segment);
                    return;
                }
            }
            HeadKind::Http2Preface => {
                self.begin_http2(segment);
                return;
            }
            _ => {}
        }
        let line = matches!(self.at_hand.head(), HeadKind::HttpRequest | HeadKind::Unknown);
        let uncertain = doubtful
            || self.flags & Self::PIPELINED != 0
            || (matches!(self.protocol, Protocol::Http1) && !line);
        self.flags &= !(Self::OVERLAPPING | Self::PUSHED);
        if uncertain {
            self.flags |= Self::OVERLAPPING;
        }
        self.retransmits = 0;
        self.requester_done = Timestamp(0);
        self.response_bytes = 0;
        self.status = 0;
        if matches!(self.protocol, Protocol::Http2 | Protocol::Upgraded)
            || (matches!(self.protocol, Protocol::Tls) && matches!(self.tls, TlsStage::None))
        {
            self.phase = Phase::Opaque;
            self.flags |= Self::ASKED;
            // The step may already tell how the exchange before ended; this turn is told all the same.
            let reason = self.opaque_reason();
            self.at_hand.doubt(reason);
            return;
        }
        self.at_hand.note(Step::ASKED);
        self.number = self.number.wrapping_add(1);
        self.phase = Phase::Requesting;
        self.request_sequence = segment.start();
        self.start = segment.now;
        self.sent = segment.now;
        self.request_bytes = u64::from(fresh);
    }

    #[inline(always)]
    pub(crate) fn opaque_reason(&self) -> Reason {
        match self.protocol {
            Protocol::Tls => Reason::Tls,
            Protocol::Http2 => Reason::Http2,
            _ => Reason::Upgraded,
        }
    }
}
