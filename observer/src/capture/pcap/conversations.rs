//! All connections of a capture, and the exchanges on them.

use std::{collections::BTreeMap, fmt::Write};

use indexmap::IndexMap;
use observer_common::{
    Completed, Endpoint, Nanoseconds, Outcome, Reason, Role, Step, Timestamp, UNKNOWN_DURATION,
};

use super::{
    conversation::{Conversation, Parties},
    decode::TcpSegment,
};
use crate::exchange::{Exchange, NameId, Names};

/// How many connections are remembered at once: some 40 MB.
const MOST_CONVERSATIONS: usize = 100_000;
/// After how long without a packet a connection gives way to a new one.
const IDLE: Nanoseconds = Nanoseconds(15 * 60 * 1_000_000_000);
/// How often it is looked for such, at most.
const SWEEP_INTERVAL: Nanoseconds = Nanoseconds(1_000_000_000);
/// All connections of a capture.
pub(super) struct Conversations<'a> {
    role: Role,
    /// By both ends, the smaller first.
    open: IndexMap<(Endpoint, Endpoint), Conversation>,
    /// How many there were.
    count: u64,
    swept: Timestamp,
    output: Output<'a>,
}

impl<'a> Conversations<'a> {
    pub(super) fn new(role: Role, names: &'a mut Names, sink: &'a mut dyn FnMut(&Exchange, &Names)) -> Self {
        let output = Output { role, names, sink, unpaired: BTreeMap::new(), digits: String::new() };
        Self { role, open: IndexMap::new(), count: 0, swept: Timestamp(0), output }
    }

    /// Takes in one segment.
    pub(super) fn observe(&mut self, now: Timestamp, segment: &TcpSegment<'_>) {
        let ends = (segment.source.min(segment.destination), segment.source.max(segment.destination));
        let begins = match self.open.get(&ends) {
            Some(conversation) => segment.opens() && !conversation.is_opened_by(segment),
            // What is left of a connection that is not known begins none.
            None if segment.length == 0 && !segment.flags.syn() => return,
            None => true,
        };
        if begins {
            if let Some(mut before) = self.open.swap_remove(&ends) {
                let step = before.close(now);
                self.output.take(&mut before, &step);
            }
            if self.open.len() >= MOST_CONVERSATIONS && !self.make_room(now) {
                self.output.count(Reason::StorageFailed);
                return;
            }
            self.count += 1;
            self.open.insert(ends, Conversation::begin(self.count, self.role, segment, now));
        }
        if let Some(conversation) = self.open.get_mut(&ends) {
            let step = conversation.observe(now, segment);
            self.output.take(conversation, &step);
        }
    }

    /// Forgets connections that are over, and, where that does not help, those that were silent for long.
    fn make_room(&mut self, now: Timestamp) -> bool {
        if now.since(self.swept).is_some_and(|since| since < SWEEP_INTERVAL) {
            return false;
        }
        self.swept = now;
        let output = &mut self.output;
        for idle_too in [false, true] {
            self.open.retain(|_, conversation| {
                let idle = now.since(conversation.last_seen).is_some_and(|silent| silent >= IDLE);
                let goes = conversation.is_over() || (idle_too && idle);
                if goes {
                    output.end(conversation, now);
                }
                !goes
            });
            if self.open.len() < MOST_CONVERSATIONS {
                return true;
            }
        }
        false
    }

    /// The capture ends: what is complete is told, what still waits is pending.
    pub(super) fn end(&mut self, now: Timestamp) {
        for conversation in self.open.values_mut() {
            self.output.end(conversation, now);
        }
        self.open.clear();
    }

    /// What was no certain pair, by reason.
    pub(super) fn into_unpaired(self) -> BTreeMap<String, u64> {
        self.output.unpaired.into_iter().map(|(reason, count)| (reason.name().to_owned(), count)).collect()
    }
}

/// Where exchanges go.
struct Output<'a> {
    role: Role,
    names: &'a mut Names,
    sink: &'a mut dyn FnMut(&Exchange, &Names),
    unpaired: BTreeMap<Reason, u64>,
    /// The digits of a status, reused.
    digits: String,
}

impl Output<'_> {
    fn count(&mut self, reason: Reason) {
        *self.unpaired.entry(reason).or_default() += 1;
    }

    /// Hands over what a step brought about.
    fn take(&mut self, conversation: &mut Conversation, step: &Step) {
        if let Some(reason) = step.uncertain {
            self.count(reason);
        }
        if let Some(completed) = step.completed() {
            self.emit(conversation, completed);
        }
    }

    /// Nothing more is seen of a conversation.
    fn end(&mut self, conversation: &mut Conversation, now: Timestamp) {
        let step = conversation.close(now);
        match step.completed() {
            // It is the capture that gave up.
            Some(completed) if matches!(completed.outcome, Outcome::Timeout) => {
                self.emit(conversation, &Completed { outcome: Outcome::Pending, ..*completed });
            }
            _ => self.take(conversation, &step),
        }
    }

    fn emit(&mut self, conversation: &mut Conversation, completed: &Completed) {
        let parties = match conversation.parties {
            Some(parties) => parties,
            None => *conversation.parties.insert(self.parties(conversation.opener, conversation.responder)),
        };
        let known = |duration| (duration != UNKNOWN_DURATION).then_some(duration);
        let status = (completed.status != 0).then(|| self.status(completed.status));
        let exchange = Exchange {
            complete: known(completed.complete),
            sent: known(completed.sent),
            outcome: completed.outcome,
            request_bytes: Some(completed.request_bytes),
            response_bytes: Some(completed.response_bytes),
            retransmits: Some(completed.retransmits),
            connection: Some(conversation.number),
            client: Some(parties.client),
            role: self.role,
            protocol: completed.protocol.name().map(|name| self.names.id(name)),
            status,
            failed: completed.protocol.is_failure(completed.status),
            ..Exchange::new(completed.start, parties.service, parties.instance, completed.latency)
        };
        (self.sink)(&exchange, self.names);
    }

    fn status(&mut self, status: u32) -> NameId {
        self.digits.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.digits, "{status}");
        self.names.id(&self.digits)
    }

    fn parties(&mut self, opener: Endpoint, responder: Endpoint) -> Parties {
        Parties {
            service: self.names.id(&format!(":{}", responder.port)),
            instance: self.names.id(&responder.to_socket_addr().to_string()),
            // Without its port, which is another one for every connection.
            client: self.names.id(&opener.address.to_ip().to_string()),
        }
    }
}
