//! What the probes do with a segment, done on the host: the same state machine, the same records.

use observer_common::{
    Closed, Connection, ConnectionRecord, Direction, ExchangeRecord, FEW, FRAME_HEADER, HEAD_LENGTH, Head,
    LONGEST_HEADER, MYSQL_COMMAND, Outcome, PAYLOAD_LENGTH, PayloadRecord, Phase, Protocol, Reason,
    RecordKind, Route, Segment, Step, Timestamp, mysql_is_encrypted, mysql_is_unanswered,
};

use crate::pairing::Record;

/// What a probe tells.
pub(super) enum Told<'a> {
    /// A record for the host's half of the pairing.
    Record(Record<'a>),
    /// Something that is no certain pair.
    Uncertain(Reason),
}

/// Who hears it.
pub(super) type Out<'a> = dyn FnMut(Told<'_>) + 'a;

/// The probes' view of one connection.
#[derive(Debug)]
pub(super) struct Probe {
    connection: Connection,
}

impl Probe {
    pub(super) const fn new(connection: &Connection) -> Self {
        Self { connection: *connection }
    }

    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The handshake fixed the sequence numbers.
    pub(super) fn established(&mut self, sent_next: u32, received_next: u32) {
        self.connection.established(sent_next, received_next);
    }

    /// The observed end has accepted what arrives up to here.
    pub(super) fn accepted(&mut self, received: u32, out: &mut Out<'_>) {
        if matches!(self.connection.route(), Route::Frames)
            && let Some(record) = self.connection.accepted(received)
        {
            out(Told::Record(Record::Frame(&record, &[])));
        }
    }

    /// Takes in one segment, and the captured bytes of its payload.
    pub(super) fn observe(&mut self, segment: &Segment, payload: &[u8], out: &mut Out<'_>) {
        let mut segment = *segment;
        match self.connection.route() {
            Route::Frames => {
                self.frames(&segment, payload, out);
                return;
            }
            Route::Records if segment.length != 0 => segment.silent = !self.records(&segment, payload),
            Route::Records => {}
            Route::Turns => {
                if !self.recognise(&mut segment, payload, out) {
                    return;
                }
            }
        }
        let was_silent = segment.silent && matches!(self.connection.protocol, Protocol::Mysql);
        let step = self.connection.observe(&segment);
        self.tell(&step, out);
        self.keep_heads(&step, payload);
        if was_silent {
            out(Told::Uncertain(Reason::Unanswered));
        }
        if step.opens_frames() {
            self.tell_connection(RecordKind::Opened, segment.now, Outcome::Ok, step.is_whole(), out);
            self.frames(&segment, payload, out);
        } else if step.says_hello() {
            self.tell_hello(segment.length, payload, out);
            self.records(&segment, payload);
        }
    }

    /// What the payload begins with, where the pairing machine wants to know. False where the segment turned out to
    /// carry frames.
    fn recognise(&mut self, segment: &mut Segment, payload: &[u8], out: &mut Out<'_>) -> bool {
        let asks = self.connection.is_request(segment.direction);
        segment.head = if segment.length != 0 && asks { Head::Other } else { Head::Unknown };
        if asks && matches!(self.connection.protocol, Protocol::Mysql) {
            if let Some(bytes) = payload.first_chunk::<MYSQL_COMMAND>() {
                segment.silent = mysql_is_unanswered(*bytes, segment.length);
                if mysql_is_encrypted(*bytes) {
                    segment.head = Head::TlsRecord;
                }
            }
        } else if segment.length as usize >= HEAD_LENGTH && self.connection.asks_for_head(segment.direction) {
            segment.head = Head::Unknown;
            if let Some(bytes) = payload.first_chunk::<HEAD_LENGTH>() {
                if self.connection.suspects_http2(segment.direction, bytes) {
                    self.suspect(segment, payload, out);
                    return false;
                }
                segment.head = Head::of(bytes);
            }
        } else if self.connection.asks_for_few(segment.direction) {
            let mut few = [0; FEW];
            let length = keep(&mut few, payload);
            segment.head = Head::of_few(few, length.into());
        }
        true
    }

    /// Frames of a connection that is older than the capture, unless they are none.
    fn suspect(&mut self, segment: &Segment, payload: &[u8], out: &mut Out<'_>) {
        self.connection.continue_http2();
        if self.admit(segment, payload) {
            self.tell_connection(RecordKind::Opened, segment.now, Outcome::Ok, false, out);
            self.walk(segment.direction, payload, out);
        } else {
            self.connection.is_no_http2();
        }
    }

    fn frames(&mut self, segment: &Segment, payload: &[u8], out: &mut Out<'_>) {
        if segment.length != 0 && self.admit(segment, payload) {
            self.walk(segment.direction, payload, out);
        }
        let (reset, fin) = (segment.flags.rst(), segment.flags.fin());
        if reset || (fin && !self.connection.is_request(segment.direction)) {
            let outcome = match segment.direction {
                Direction::Egress => Outcome::Cancelled,
                Direction::Ingress => Outcome::Reset,
            };
            self.tell_connection(RecordKind::Closed, segment.now, outcome, false, out);
        }
    }

    fn admit(&mut self, segment: &Segment, payload: &[u8]) -> bool {
        let Segment { direction, now, sequence, length, .. } = *segment;
        self.connection.admit_frames(direction, now, sequence, &payload, length)
    }

    /// Walks over the frames of a segment.
    fn walk(&mut self, direction: Direction, payload: &[u8], out: &mut Out<'_>) {
        self.walk_over(direction, payload, out);
        if let Some(record) = self.connection.end_frames(direction) {
            out(Told::Record(Record::Frame(&record, &[])));
        }
    }

    fn walk_over(&mut self, direction: Direction, payload: &[u8], out: &mut Out<'_>) {
        loop {
            let (passed, record) = self.connection.frame_step(direction, &payload);
            if !passed.more {
                return;
            }
            if let Some(record) = record {
                let at = passed.at as usize;
                let Some(data) = payload.get(at..at + usize::from(record.kept)) else {
                    // What was not captured is a gap.
                    self.connection.walker(direction).lose();
                    return;
                };
                out(Told::Record(Record::Frame(&record, data)));
            }
        }
    }

    /// Walks over the records of a segment: whether any of them counts.
    fn records(&mut self, segment: &Segment, payload: &[u8]) -> bool {
        let Segment { direction, now, sequence, length, .. } = *segment;
        if self.connection.admit_records(direction, now, sequence, length) {
            while self.connection.record_step(direction, &payload) {}
        }
        let walker = self.connection.walker(direction);
        let (lost, carries) = (walker.is_lost(), walker.carries());
        if lost {
            self.connection.phase = Phase::Opaque;
        }
        carries
    }

    fn keep_heads(&mut self, step: &Step, payload: &[u8]) {
        let Connection { heads, kept, .. } = &mut self.connection;
        let payload = if step.shows_head() { payload } else { &[] };
        if step.asked() {
            kept.response = 0;
            kept.request = keep(&mut heads.request, payload);
        } else if step.answered() && step.shows_head() {
            kept.response = keep(&mut heads.response, payload);
        }
    }

    /// Nothing more comes.
    pub(super) fn close(&mut self, now: Timestamp, out: &mut Out<'_>) {
        let step = self.connection.close(now, Closed::GaveUp);
        self.tell(&step, out);
        if matches!(self.connection.route(), Route::Frames) {
            self.tell_connection(RecordKind::Closed, now, Outcome::Timeout, false, out);
        }
    }

    /// Nothing more is seen: what still waits is pending.
    pub(super) fn end(&mut self, now: Timestamp, out: &mut Out<'_>) {
        let step = self.connection.close(now, Closed::GaveUp);
        if let Some(completed) = step.completed() {
            let mut completed = *completed;
            if matches!(completed.outcome, Outcome::Timeout) {
                completed.outcome = Outcome::Pending; // it is the capture that gave up
            }
            out(Told::Record(Record::Exchange(&ExchangeRecord::new(&self.connection, completed, 0))));
        }
        for reason in step.uncertain() {
            out(Told::Uncertain(reason));
        }
    }

    fn tell(&self, step: &Step, out: &mut Out<'_>) {
        for reason in step.uncertain() {
            out(Told::Uncertain(reason));
        }
        if let Some(completed) = step.completed() {
            out(Told::Record(Record::Exchange(&ExchangeRecord::new(&self.connection, *completed, 0))));
        }
    }

    fn tell_connection(
        &self,
        kind: RecordKind,
        now: Timestamp,
        outcome: Outcome,
        whole: bool,
        out: &mut Out<'_>,
    ) {
        let record = ConnectionRecord {
            kind,
            srtt_eighths: 0,
            now,
            parties: self.connection.parties,
            role: self.connection.role,
            outcome,
            whole: u8::from(whole),
            reserved: [0; 5],
        };
        let record =
            if kind == RecordKind::Opened { Record::Opened(&record) } else { Record::Closed(&record) };
        out(Told::Record(record));
    }

    fn tell_hello(&self, length: u32, payload: &[u8], out: &mut Out<'_>) {
        let mut data = [0; PAYLOAD_LENGTH];
        let kept = payload.len().min(PAYLOAD_LENGTH);
        data[..kept].copy_from_slice(&payload[..kept]);
        out(Told::Record(Record::Hello(&PayloadRecord {
            kind: RecordKind::Hello,
            kept: u16::try_from(kept).unwrap_or_default(),
            truncated: u8::from(length as usize > kept),
            stream: 1,
            connection: self.connection.parties.connection,
            data,
        })));
    }
}

/// Copies the beginning of `payload` and says how much that was.
fn keep(head: &mut [u8], payload: &[u8]) -> u8 {
    let kept = payload.len().min(head.len());
    head[..kept].copy_from_slice(&payload[..kept]);
    u8::try_from(kept).unwrap_or_default()
}

const _: () = assert!(FRAME_HEADER == LONGEST_HEADER);
