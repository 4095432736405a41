//! All connections of a capture, and the exchanges on them.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use observer_common::{Endpoint, Nanoseconds, Reason, Role, Timestamp};

use super::{conversation::Conversation, decode::TcpSegment, probe::Told};
use crate::{
    exchange::{Exchange, Names},
    pairing::{Finisher, Who},
};

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
        let output =
            Output { finisher: Finisher::new(Who::by_address()), names, sink, unpaired: BTreeMap::new() };
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
                before.close(now, &mut |told| self.output.hear(&told, now));
            }
            if self.open.len() >= MOST_CONVERSATIONS && !self.make_room(now) {
                self.output.count(Reason::StorageFailed);
                return;
            }
            self.count += 1;
            self.open.insert(ends, Conversation::begin(self.count, self.role, segment, now));
        }
        if let Some(conversation) = self.open.get_mut(&ends) {
            conversation.observe(now, segment, &mut |told| self.output.hear(&told, now));
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
                    conversation.end(now, &mut |told| output.hear(&told, now));
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
        let output = &mut self.output;
        for conversation in self.open.values_mut() {
            conversation.end(now, &mut |told| output.hear(&told, now));
        }
        self.open.clear();
        output.finisher.unfinished_streams(now, output.names, output.sink);
    }

    /// What was no certain pair, by reason.
    pub(super) fn into_unpaired(self) -> BTreeMap<String, u64> {
        let mut unpaired = self.output.unpaired;
        for (reason, count) in self.output.finisher.unpaired() {
            *unpaired.entry(*reason).or_default() += count;
        }
        unpaired.into_iter().map(|(reason, count)| (reason.name().to_owned(), count)).collect()
    }
}

/// Where exchanges go.
struct Output<'a> {
    finisher: Finisher,
    names: &'a mut Names,
    sink: &'a mut dyn FnMut(&Exchange, &Names),
    unpaired: BTreeMap<Reason, u64>,
}

impl Output<'_> {
    fn count(&mut self, reason: Reason) {
        *self.unpaired.entry(reason).or_default() += 1;
    }

    /// Hands over what a probe tells.
    fn hear(&mut self, told: &Told<'_>, now: Timestamp) {
        match told {
            Told::Record(record) => self.finisher.take(record, now, self.names, self.sink),
            Told::Uncertain(reason) => self.count(*reason),
        }
    }
}
