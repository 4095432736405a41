//! Which way a segment's payload goes: by turns, by frames of HTTP/2, by records of TLS.

use crate::{
    Connection, Direction, FRAME_HEADER, FrameRecord, Passed, PayloadBytes, Phase, Protocol, RECORD_HEADER,
    Reason, Segment, Step, Timestamp, TlsStage, Walker, http2, volatile::set,
};

/// Bytes of the preface of HTTP/2 (RFC 9113, section 3.4).
const PREFACE: u32 = 24;

/// How the payload of a connection is taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Request and response take turns.
    Turns,
    /// Frames belong to streams.
    Frames,
    /// Records say whether they count, then as by turns.
    Records,
}

impl Route {
    /// How many programs walk over payload.
    pub const WALKERS: usize = 2;

    /// The place of the program that walks this way; none walks by turns.
    #[inline(always)]
    pub const fn walker(self) -> u32 {
        match self {
            Self::Frames => 0,
            Self::Records => 1,
            Self::Turns => u32::MAX,
        }
    }
}

impl Connection {
    /// The way of the next segment.
    #[inline(always)]
    pub fn route(&self) -> Route {
        match self.protocol {
            Protocol::Http2 => Route::Frames,
            Protocol::Tls if !matches!(self.tls, TlsStage::None) && !matches!(self.phase, Phase::Opaque) => {
                Route::Records
            }
            _ => Route::Turns,
        }
    }

    /// The walker of a direction.
    #[inline(always)]
    pub fn walker(&mut self, direction: Direction) -> &mut Walker {
        match direction {
            Direction::Egress => &mut self.leaving,
            Direction::Ingress => &mut self.arriving,
        }
    }

    /// Whether these may be frames of an HTTP/2 connection that is older than the observation.
    #[inline(always)]
    pub fn suspects_http2(&self, direction: Direction, first: &[u8; 12]) -> bool {
        let [b0, b1, b2, b3, b4, b5, b6, b7, b8, ..] = *first;
        matches!(self.phase, Phase::Unsynchronised | Phase::Synchronising)
            && matches!(self.protocol, Protocol::Unknown)
            && self.is_request(direction)
            && http2::plausible(&[b0, b1, b2, b3, b4, b5, b6, b7, b8])
    }

    /// Whether the observation has seen a connection's first byte.
    #[inline(always)]
    const fn is_fresh(&self) -> bool {
        matches!(self.phase, Phase::Idle) && self.number == 0
    }

    /// A client says hello.
    #[inline(always)]
    pub(crate) fn begin_tls(&mut self, segment: &Segment) {
        self.tls = TlsStage::Hello;
        self.begin_walkers(segment, 0, true);
        self.at_hand.note(Step::HELLO);
        self.at_hand.doubt(Reason::Handshake);
    }

    /// A client says the preface.
    #[inline(always)]
    pub(crate) fn begin_http2(&mut self, segment: &Segment) {
        let whole = self.is_fresh();
        self.at_hand.note(if whole { Step::OPENS | Step::WHOLE } else { Step::OPENS });
        self.protocol = Protocol::Http2;
        self.phase = Phase::Opaque;
        self.begin_walkers(segment, PREFACE, whole);
    }

    /// A connection turns out to speak HTTP/2 in the middle of it.
    #[inline(always)]
    pub fn continue_http2(&mut self) {
        self.protocol = Protocol::Http2;
        self.phase = Phase::Opaque;
        self.leaving.begin_lost();
        self.arriving.begin_lost();
    }

    /// It does not, after all.
    #[inline(always)]
    pub fn is_no_http2(&mut self) {
        self.protocol = Protocol::Other;
        self.phase = Phase::Unsynchronised;
    }

    #[inline(always)]
    fn begin_walkers(&mut self, segment: &Segment, skipped: u32, whole: bool) {
        let start = segment.start();
        match segment.direction {
            Direction::Egress => {
                self.leaving.begin(start, skipped);
                self.arriving.begin(self.received_next, 0);
            }
            Direction::Ingress => {
                self.arriving.begin(start, skipped);
                self.leaving.begin(self.sent_next, 0);
            }
        }
        if !whole {
            let other = match segment.direction {
                Direction::Egress => &mut self.arriving,
                Direction::Ingress => &mut self.leaving,
            };
            other.begin_lost();
        }
    }

    /// Takes up a segment of frames: whether there is anything to walk over. The walker is claimed.
    #[inline(always)]
    pub fn admit_frames(
        &mut self,
        direction: Direction,
        now: Timestamp,
        sequence: u32,
        payload: &impl PayloadBytes<FRAME_HEADER>,
        length: u32,
    ) -> bool {
        if matches!(direction, Direction::Ingress) && self.fill_hole(now, sequence, length) {
            return true;
        }
        let before = self.before_segment(direction);
        let walker = self.walker(direction);
        if !walker.admit(now, sequence, length, false) {
            return false;
        }
        if walker.is_lost() {
            // A frame that begins with bytes seen before says nothing about where the new ones begin.
            if !walker.is_new() || !walker.finds_frame(payload) {
                walker.give_up_hole();
                return false;
            }
            self.go_on_behind(direction, before, sequence);
        }
        true
    }

    /// One step through frames: what was passed, and what it tells.
    #[inline(always)]
    pub fn frame_step(
        &mut self,
        direction: Direction,
        payload: &impl PayloadBytes<FRAME_HEADER>,
    ) -> (Passed, Option<FrameRecord>) {
        let connection = self.parties.connection;
        let walker = self.walker(direction);
        let passed = walker.frame_step(payload);
        let record =
            if passed.piece { walker.frame_record(&passed, connection, direction.number()) } else { None };
        (passed, record)
    }

    /// Takes up a segment of records: whether there is anything to walk over. The walker is claimed. After a gap
    /// nothing tells records from each other any more.
    #[inline(always)]
    pub fn admit_records(
        &mut self,
        direction: Direction,
        now: Timestamp,
        sequence: u32,
        length: u32,
    ) -> bool {
        let walker = self.walker(direction);
        let admitted = walker.admit(now, sequence, length, true);
        if walker.is_lost() {
            self.phase = Phase::Opaque;
            return false;
        }
        if !admitted {
            // It was seen before, or it fills a gap that was walked over: the sequence numbers tell.
            walker.carry_all();
        }
        admitted
    }

    /// One step through records: whether there is more.
    #[inline(always)]
    pub fn record_step(&mut self, direction: Direction, payload: &impl PayloadBytes<RECORD_HEADER>) -> bool {
        let request = self.is_request(direction);
        let walker = self.walker(direction);
        let passed = walker.record_step(payload);
        if passed.piece && passed.first {
            let Some((kind, length)) = walker.record() else {
                set(&mut self.phase, Phase::Opaque);
                return false;
            };
            let seen = walker.count();
            let counts = self.tls_record(request, kind, length, seen);
            self.walker(direction).mark(counts);
        }
        if passed.bytes != 0 {
            self.walker(direction).carry();
        }
        passed.more
    }
}
