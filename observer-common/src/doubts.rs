//! What makes a turn doubtful beside the order of its segments: requests and answers that may have passed unseen.
//!
//! The bits are rarely written. Those of TLS are written by whoever walks over the records of one side, each its own
//! byte; all others under the connection's lock.

use crate::{
    Connection, HeadKind, Phase, Protocol, Reason, Role, Step,
    tls::KEY_UPDATE,
    volatile::{get, set},
};

impl Connection {
    /// Of the side that asks: a record of TLS has passed, outside of a request, that may have been one.
    const HIDDEN_REQUEST: u8 = 1;
    /// The beginning of the connection's first request did not pass here: it came with the handshake.
    const UNSEEN: u8 = 1 << 1;
    /// It began the connection with a header of the PROXY protocol, perhaps with a request in the same segment.
    const PROXIED: u8 = 1 << 2;

    /// Of the side that answers: a record of TLS that is as long as a key update has passed instead of an answer.
    pub(crate) const HIDDEN_ANSWER: u8 = 1;
    /// One that is as long as an alert has, which ends the connection unless it was an answer.
    const HIDDEN_ALERT: u8 = 1 << 1;
    /// An interim response of HTTP/1 has passed, perhaps not all of it.
    const INTERIM: u8 = 1 << 2;

    /// Takes in a record of TLS 1.3 that is as long as an alert or a key update: whether it counts all the same.
    #[inline(always)]
    pub(crate) fn short_record(&mut self, request: bool, length: u32) -> bool {
        let asking = get(&self.asking);
        let answering = get(&self.answering);
        match (get(&self.phase), request) {
            // Part of a request, which counts from its beginning on.
            (Phase::Requesting, true) => {}
            (_, true) => set(&mut self.asking, asking | Self::HIDDEN_REQUEST),
            // Behind the answer in the same segment it is no other one.
            (Phase::Requesting, false) if !self.answer_is_at_hand() => {
                let hidden = if length == KEY_UPDATE { Self::HIDDEN_ANSWER } else { Self::HIDDEN_ALERT };
                set(&mut self.answering, answering | hidden);
            }
            // The end of a body in chunks is as long, and key updates are rare.
            (Phase::Responding, false) => return length == KEY_UPDATE && asking & Self::HIDDEN_REQUEST == 0,
            _ => {}
        }
        false
    }

    /// Whether the segment that the side that answers has at hand counts already.
    #[inline(always)]
    fn answer_is_at_hand(&self) -> bool {
        if matches!(self.role, Role::Client) { self.arriving.carries() } else { self.leaving.carries() }
    }

    /// Whether the current request may have been answered unseen.
    #[inline(always)]
    pub(crate) fn may_be_answered(&self) -> bool {
        get(&self.answering) & (Self::HIDDEN_ANSWER | Self::HIDDEN_ALERT) != 0
    }

    /// Whether a request may have passed unseen since the current one was answered.
    #[inline(always)]
    pub(crate) fn may_be_asked(&self) -> bool {
        get(&self.asking) & Self::HIDDEN_REQUEST != 0
    }

    /// Whether it is the answer that has to tell what the connection speaks.
    #[inline(always)]
    pub(crate) const fn is_unseen(&self) -> bool {
        self.asking & Self::UNSEEN != 0
    }

    /// Whether the connection began with a header of the PROXY protocol, and no request is known to have come.
    #[inline(always)]
    pub(crate) const fn is_proxied(&self) -> bool {
        self.asking & Self::PROXIED != 0
    }

    /// Whether new payload of the side that asks is a header of the PROXY protocol.
    #[inline(always)]
    pub(crate) fn begins_proxied(&mut self) -> bool {
        let proxied = self.number == 0 && matches!(self.at_hand.head(), HeadKind::ProxyHeader);
        if proxied {
            self.asking |= Self::PROXIED;
        }
        proxied
    }

    /// Forgets the doubts about the turn before: whether they concern the one that begins.
    #[inline(always)]
    pub(crate) fn inherits_doubts(&mut self) -> bool {
        let head = self.at_hand.head();
        let certain = matches!(head, HeadKind::HttpRequest | HeadKind::TlsRecord | HeadKind::Http2Preface);
        let doubtful = self.may_be_answered() || self.may_be_asked() || (self.is_proxied() && !certain);
        if self.asking | self.answering != 0 {
            self.asking = 0;
            self.answering = 0;
        }
        if self.number == 0 && matches!(self.protocol, Protocol::Unknown) && matches!(head, HeadKind::Unknown)
        {
            self.asking = Self::UNSEEN;
        }
        doubtful
    }

    /// An answer is seen: what passed before it may have been its beginning, or another one.
    #[inline(always)]
    pub(crate) fn doubt_hidden_answer(&mut self) {
        if self.may_be_answered() {
            self.answering &= !(Self::HIDDEN_ANSWER | Self::HIDDEN_ALERT);
            self.flags |= Self::OVERLAPPING;
        }
    }

    /// The side that answers tells what the connection speaks, since the other one's beginning was not seen. Whether
    /// its turns are followed as turns.
    #[inline(always)]
    pub(crate) fn meet(&mut self) -> bool {
        match self.at_hand.head() {
            HeadKind::HttpResponse => self.protocol = Protocol::Http1,
            HeadKind::TlsRecord => {
                self.protocol = Protocol::Tls;
                self.phase = Phase::Opaque;
                self.flags &= !Self::ASKED;
                self.at_hand.doubt(Reason::Handshake);
                return false;
            }
            HeadKind::Http2Settings => {
                self.continue_http2();
                self.at_hand.note(Step::OPENS);
                return false;
            }
            _ => {}
        }
        true
    }

    /// Looks at what an answer of HTTP/1 begins with: whether it is an interim response, which announces the real one
    /// (RFC 9110, section 15.2).
    #[inline(always)]
    pub(crate) fn is_interim(&mut self) -> bool {
        let status = self.at_hand.status();
        if !matches!(self.protocol, Protocol::Http1) {
            return false;
        }
        if matches!(status, 100 | 102..=199) {
            self.response_bytes = 0;
            self.answering |= Self::INTERIM;
            return true;
        }
        let interim = self.answering & Self::INTERIM != 0;
        if status == 0 && (interim || !matches!(self.at_hand.head(), HeadKind::Unknown)) {
            let cut = matches!(self.at_hand.head(), HeadKind::HttpCut);
            if self.number == 1 && !interim && !cut {
                // The connection's very first response is none of HTTP's.
                self.protocol = Protocol::Other;
            } else {
                // Not the beginning of a response, or one that may turn out to be an interim one: what is left of an
                // earlier one, a head that came in pieces.
                self.flags |= Self::OVERLAPPING;
            }
        }
        false
    }
}
