//! Both directions of an observed socket that speaks in turns or in records of TLS, fed as the probes do it.

use observer_common::{
    Closed, Completed, Connection, Direction, FEW, HEAD_LENGTH, Head, Known, MYSQL_COMMAND, Phase, Protocol,
    Reason, Role, Route, Segment, TcpFlags, Timestamp, mysql_is_unanswered,
};

/// An observed socket. The clock moves by 10 with every segment.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) connection: Connection,
    pub(crate) completed: Vec<Completed>,
    pub(crate) uncertain: Vec<Reason>,
    now: u64,
    /// How many bytes have left, and arrived.
    passed: [u32; 2],
    starts: [u32; 2],
}

impl Probe {
    /// Seen from the handshake on.
    pub(crate) fn new(role: Role, starts: [u32; 2]) -> Self {
        let mut connection = Connection::default();
        connection.open(role);
        connection.established(starts[0], starts[1]);
        let (completed, uncertain) = (Vec::new(), Vec::new());
        Self { connection, completed, uncertain, now: 0, passed: [0, 0], starts }
    }

    /// The side that asks says something: whether it counts.
    pub(crate) fn ask(&mut self, payload: &[u8]) -> bool {
        self.say(true, payload)
    }

    /// The side that answers says something: whether it counts.
    pub(crate) fn answer(&mut self, payload: &[u8]) -> bool {
        self.say(false, payload)
    }

    /// One of them does.
    pub(crate) fn say(&mut self, asks: bool, payload: &[u8]) -> bool {
        let direction = self.direction(asks);
        let place = usize::from(direction.number());
        let position = self.passed[place];
        self.passed[place] += u32::try_from(payload.len()).unwrap();
        self.segment(direction, position, payload)
    }

    /// A segment does not pass here: it was lost, or took another way.
    pub(crate) fn miss(&mut self, asks: bool, length: u32) {
        let direction = self.direction(asks);
        self.passed[usize::from(direction.number())] += length;
    }

    fn direction(&self, asks: bool) -> Direction {
        if asks == (self.connection.role == Role::Client) { Direction::Egress } else { Direction::Ingress }
    }

    /// The bytes at a position pass, perhaps again.
    pub(crate) fn segment(&mut self, direction: Direction, position: u32, payload: &[u8]) -> bool {
        self.now += 10;
        let place = usize::from(direction.number());
        let sequence = self.starts[place].wrapping_add(position);
        let other = 1 - place;
        let mut segment = Segment {
            now: Timestamp(self.now),
            direction,
            sequence,
            length: u32::try_from(payload.len()).unwrap(),
            flags: TcpFlags(0),
            acknowledged: Known::to_be(self.starts[other].wrapping_add(self.passed[other])),
            head: Head::Unknown,
            silent: false,
            received: Known::NOTHING,
        };
        match self.connection.route() {
            Route::Records => segment.silent = !self.records(&segment, payload),
            Route::Turns => self.recognise(&mut segment, payload),
            Route::Frames => unreachable!("none of these speak HTTP/2"),
        }
        if segment.silent && self.connection.protocol == Protocol::Mysql {
            self.uncertain.push(Reason::Unanswered);
        }
        let step = self.connection.observe(&segment);
        self.completed.extend(step.completed());
        self.uncertain.extend(step.uncertain());
        if step.says_hello() {
            self.records(&segment, payload);
        }
        !segment.silent
    }

    fn recognise(&mut self, segment: &mut Segment, payload: &[u8]) {
        let asks = self.connection.is_request(segment.direction);
        segment.head = if asks && !payload.is_empty() { Head::Other } else { Head::Unknown };
        if asks && self.connection.protocol == Protocol::Mysql {
            if let Some(bytes) = payload.first_chunk::<MYSQL_COMMAND>() {
                segment.silent = mysql_is_unanswered(*bytes, segment.length);
            }
        } else if let Some(bytes) = payload.first_chunk::<HEAD_LENGTH>()
            && self.connection.asks_for_head(segment.direction)
        {
            segment.head = Head::of(bytes);
        } else if self.connection.asks_for_few(segment.direction) {
            let mut few = [0; FEW];
            let kept = payload.len().min(FEW);
            few[..kept].copy_from_slice(&payload[..kept]);
            segment.head = Head::of_few(few, segment.length);
        }
    }

    fn records(&mut self, segment: &Segment, payload: &[u8]) -> bool {
        let Segment { direction, now, sequence, length, .. } = *segment;
        if !self.connection.admit_records(direction, now, sequence, length) {
            return false;
        }
        let mut steps = 0;
        while self.connection.record_step(direction, &payload) {
            steps += 1;
            assert!(steps <= length, "more steps than bytes");
        }
        let walker = self.connection.walker(direction);
        let (lost, carries) = (walker.is_lost(), walker.carries());
        if lost {
            self.connection.phase = Phase::Opaque;
        }
        carries
    }

    /// The connection is gone.
    pub(crate) fn close(&mut self) -> &mut Self {
        self.now += 10;
        let step = self.connection.close(Timestamp(self.now), Closed::GaveUp);
        self.completed.extend(step.completed());
        self.uncertain.extend(step.uncertain());
        self
    }

    /// Bytes of requests and responses that became exchanges.
    pub(crate) fn bytes(&self) -> Vec<(u64, u64)> {
        self.completed.iter().map(|exchange| (exchange.request_bytes, exchange.response_bytes)).collect()
    }
}
