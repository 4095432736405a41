//! An observed socket: the hook that sees every segment, and the stack behind it that accepts what arrives in order.

use observer_common::{
    Closed, Completed, Connection, Direction, FEW, HEAD_LENGTH, Head, Known, Reason, Role, Segment, TcpFlags,
    Timestamp,
};

pub(crate) const FIN: u8 = TcpFlags::FIN;
pub(crate) const SYN: u8 = TcpFlags::SYN;
pub(crate) const RST: u8 = TcpFlags::RST;

/// The receiving half of a TCP stack: what it has in order, and what it holds behind gaps.
#[derive(Clone, Debug, Default)]
struct Stack {
    next: u32,
    /// First and last position of what arrived ahead.
    ahead: Vec<(u32, u32)>,
    /// Where the other side's FIN stands.
    fin: Option<u32>,
    finished: bool,
}

impl Stack {
    fn accept(&mut self, start: u32, end: u32, fin: bool) {
        self.ahead.push((start, end));
        while let Some(&(_, end)) =
            self.ahead.iter().find(|(start, end)| *start <= self.next && *end > self.next)
        {
            self.next = end;
        }
        if fin {
            self.fin = Some(end);
        }
        if self.fin == Some(self.next) && !self.finished {
            self.finished = true;
            self.next += 1;
        }
    }
}

/// An observed socket. Positions count payload bytes of a direction from 0.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    pub(crate) connection: Connection,
    /// The time of the next event.
    pub(crate) now: u64,
    pub(crate) completed: Vec<Completed>,
    pub(crate) uncertain: Vec<Reason>,
    /// Whether what segments begin with is not looked at: the next ones come with the handshake.
    pub(crate) unseen: bool,
    sent_start: u32,
    received_start: u32,
    stack: Stack,
}

impl Wire {
    /// Whose first bytes have these sequence numbers; seen from the handshake on.
    pub(crate) fn new(role: Role, sent_start: u32, received_start: u32) -> Self {
        let mut wire = Self::in_the_middle(role, sent_start, received_start);
        wire.connection = Connection::default();
        wire.connection.open(role);
        wire.connection.established(sent_start, received_start);
        wire
    }

    /// The same, seen from some moment on.
    pub(crate) fn in_the_middle(role: Role, sent_start: u32, received_start: u32) -> Self {
        let mut connection = Connection::default();
        connection.open_in_the_middle(role);
        Self {
            connection,
            now: 1_000,
            completed: Vec::new(),
            uncertain: Vec::new(),
            unseen: false,
            sent_start,
            received_start,
            stack: Stack::default(),
        }
    }

    pub(crate) fn at(&mut self, now: u64) -> &mut Self {
        self.now = now;
        self
    }

    /// How far the stack has accepted data in order.
    pub(crate) fn readable(&self) -> u32 {
        self.stack.next
    }

    /// A segment leaves.
    pub(crate) fn send(&mut self, position: u32, payload: &[u8], flags: u8) -> &mut Self {
        self.observe(Direction::Egress, self.sent_start.wrapping_add(position), payload, flags, None)
    }

    /// A segment arrives, and the stack takes it.
    pub(crate) fn receive(&mut self, position: u32, payload: &[u8], flags: u8) -> &mut Self {
        self.refuse(position, payload, flags);
        let end = position + u32::try_from(payload.len()).unwrap();
        self.stack.accept(position, end, flags & FIN != 0);
        self
    }

    /// A segment arrives, and the stack has no room for it.
    pub(crate) fn refuse(&mut self, position: u32, payload: &[u8], flags: u8) -> &mut Self {
        let received = self.received_start.wrapping_add(self.stack.next);
        self.observe(
            Direction::Ingress,
            self.received_start.wrapping_add(position),
            payload,
            flags,
            Some(received),
        )
    }

    /// The socket is closed.
    pub(crate) fn close(&mut self) -> &mut Self {
        let step = self.connection.close(Timestamp(self.now), Closed::GaveUp);
        self.completed.extend(step.completed());
        self.uncertain.extend(step.uncertain());
        self
    }

    /// As the probes do it.
    fn observe(
        &mut self,
        direction: Direction,
        sequence: u32,
        payload: &[u8],
        flags: u8,
        received: Option<u32>,
    ) -> &mut Self {
        let length = u32::try_from(payload.len()).unwrap();
        let head = match payload.first_chunk::<HEAD_LENGTH>() {
            _ if self.unseen => Head::Unknown,
            Some(bytes) if self.connection.asks_for_head(direction) => Head::of(bytes),
            _ if length != 0 && self.connection.is_request(direction) => Head::Other,
            None if self.connection.asks_for_few(direction) => {
                let mut few = [0; FEW];
                let kept = payload.len().min(FEW);
                few[..kept].copy_from_slice(&payload[..kept]);
                Head::of_few(few, length)
            }
            _ => Head::Unknown,
        };
        let asks = self.connection.asks_for_received(sequence);
        let segment = Segment {
            now: Timestamp(self.now),
            direction,
            // A SYN takes one number before its payload.
            sequence: if flags & SYN == 0 { sequence } else { sequence.wrapping_sub(1) },
            length,
            flags: TcpFlags(flags),
            acknowledged: Known::NOTHING,
            head,
            silent: false,
            received: if asks { received.into() } else { Known::NOTHING },
        };
        let step = self.connection.observe(&segment);
        self.completed.extend(step.completed());
        self.uncertain.extend(step.uncertain());
        self
    }
}
