//! Whatever the network does to the segments of a valid conversation, the exchanges stay the same.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use observer_common::{Completed, Direction, Nanoseconds, Outcome, Role, Timestamp, UNKNOWN_DURATION};
use proptest::{collection::vec, prelude::*};

mod wire;

use wire::{FIN, RST, Wire};

/// What the conversation speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speech {
    /// Something that is paired by direction alone.
    Plain,
    /// HTTP/1.1 with keep-alive.
    Http,
}

/// How the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// TCP gives up, or the observation ends.
    Silent,
    /// The side that answers is done, at once with the rest of its last response or after it.
    ResponderDone,
    /// The side that answers resets.
    ResponderResets,
    /// The side that asks resets.
    RequesterResets,
}

/// A conversation, and a supply of choices for what the network does to it.
#[derive(Clone, Debug)]
struct Scenario {
    role: Role,
    speech: Speech,
    /// Lengths of each request and its response.
    turns: Vec<(u32, u32)>,
    /// Whether the last request gets its response.
    answered: bool,
    end: End,
    starts: (u32, u32),
    choices: Vec<u32>,
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let start = prop_oneof![any::<u32>(), (u32::MAX - 200)..=u32::MAX];
    let end = prop_oneof![
        Just(End::Silent),
        Just(End::ResponderDone),
        Just(End::ResponderResets),
        Just(End::RequesterResets)
    ];
    (
        prop_oneof![Just(Role::Client), Just(Role::Server)],
        prop_oneof![Just(Speech::Plain), Just(Speech::Http)],
        vec((1_u32..100, 1_u32..100), 1..6),
        any::<bool>(),
        end,
        (start.clone(), start),
        vec(any::<u32>(), 0..400),
    )
        .prop_map(|(role, speech, turns, answered, end, starts, choices)| {
            // An HTTP message has a first line.
            let least = if speech == Speech::Http { 20 } else { 0 };
            let turns = turns.into_iter().map(|(request, response)| (request + least, response + least));
            Scenario { role, speech, turns: turns.collect(), answered, end, starts, choices }
        })
}

/// Plays a scenario, and notes what is true.
struct Play {
    wire: Wire,
    choices: std::vec::IntoIter<u32>,
    asked: Vec<u8>,
    answered: Vec<u8>,
    requests_travel: Direction,
    /// Whether the network does harm at all.
    harm: bool,
    /// Whether the receiving stack has room for all that comes.
    room: bool,
}

impl Play {
    /// The next choice below `bound`; 0 when there are none left, which is always the tame one.
    fn choice(&mut self, bound: u32) -> u32 {
        if self.harm { self.choices.next().unwrap_or(0) % bound } else { 0 }
    }

    fn tick(&mut self) -> u64 {
        let now = self.wire.now + 10;
        self.wire.at(now);
        now
    }

    fn bytes(&self, direction: Direction, start: u32, end: u32) -> Vec<u8> {
        let all = if direction == self.requests_travel { &self.asked } else { &self.answered };
        all[start as usize..end as usize].to_vec()
    }

    /// A message leaves in order, in pieces, with earlier bytes again now and then. Returns when its first and its
    /// last byte left.
    fn leaves(&mut self, start: u32, end: u32) -> (u64, u64) {
        let mut next = start;
        let mut times = (0, 0);
        while next < end {
            if self.choice(4) == 3 {
                self.tick();
                let from = self.choice(next + 1);
                let to = from + self.choice(next - from + 1);
                let again = self.bytes(Direction::Egress, from, to);
                self.wire.send(from, &again, 0);
            }
            let to = end - self.choice(end - next);
            // Sent again together with what follows it.
            let from = if self.choice(6) == 5 { next - self.choice(next - start + 1) } else { next };
            let now = self.tick();
            let piece = self.bytes(Direction::Egress, from, to);
            self.wire.send(from, &piece, 0);
            times = (if next == start { now } else { times.0 }, now);
            next = to;
        }
        times
    }

    /// A message arrives in pieces, in any order, some of it again, some of it refused at first. Returns when its
    /// first byte was seen, when its first and when its last byte could be read.
    fn arrives(&mut self, start: u32, end: u32) -> (u64, u64, u64) {
        let mut pieces = Vec::new();
        let mut from = start;
        while from < end {
            let to = end - self.choice(end - from);
            pieces.push((from, to));
            from = to;
        }
        self.echo(start);
        let (mut seen, mut readable, mut complete) = (0, 0, 0);
        while !pieces.is_empty() {
            let index = self.choice(u32::try_from(pieces.len()).unwrap()) as usize;
            let (mut from, mut to) = pieces.remove(index);
            match self.choice(8) {
                5 => pieces.push((from, to)), // it comes once more
                6 => {
                    // It comes together with what is before and after it.
                    from = self.choice(from + 1);
                    to += self.choice(end - to + 1);
                }
                _ => {}
            }
            let payload = self.bytes(Direction::Ingress, from, to);
            let now = self.tick();
            if self.choice(10) == 9 && !self.room {
                pieces.push((from, to));
                self.wire.refuse(from, &payload, 0);
            } else {
                self.wire.receive(from, &payload, 0);
            }
            let first = |time: &mut u64, happened: bool| {
                if *time == 0 && happened {
                    *time = now;
                }
            };
            first(&mut seen, to > start);
            first(&mut readable, self.wire.readable() > start);
            first(&mut complete, self.wire.readable() >= end);
        }
        self.echo(end);
        (seen, readable, complete)
    }

    /// Some of the bytes before `end`, which arrived long ago, arrive again.
    fn echo(&mut self, end: u32) {
        if end > 0 && self.choice(3) == 2 {
            self.tick();
            let from = self.choice(end);
            let to = from + 1 + self.choice(end - from);
            let payload = self.bytes(Direction::Ingress, from, to);
            self.wire.receive(from, &payload, 0);
        }
    }

    /// The side that answers, or the one that asks, ends the connection after these many of its bytes.
    fn ends(&mut self, direction: Direction, position: u32, flags: u8) -> u64 {
        let now = self.tick();
        match direction {
            Direction::Egress => self.wire.send(position, b"", flags),
            Direction::Ingress => self.wire.receive(position, b"", flags),
        };
        now
    }
}

/// The other direction.
fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Egress => Direction::Ingress,
        Direction::Ingress => Direction::Egress,
    }
}

/// All that was asked and all that was answered, as bytes.
fn contents(scenario: &Scenario) -> (Vec<u8>, Vec<u8>) {
    let message = |length: u32, line: &[u8]| {
        let mut bytes = if scenario.speech == Speech::Http { line.to_vec() } else { Vec::new() };
        bytes.resize(length as usize, b'x');
        bytes
    };
    let asked = scenario.turns.iter().flat_map(|turn| message(turn.0, b"GET / HTTP/1.1\r\n\r\n"));
    let answered = scenario.turns.iter().flat_map(|turn| message(turn.1, b"HTTP/1.1 200 OK\r\n"));
    (asked.collect(), answered.collect())
}

/// Plays the scenario; gives the exchanges as they truly are, and what the pairing made of it.
fn play(scenario: &Scenario, harm: bool) -> (Vec<Completed>, Wire) {
    let (asked, answered) = contents(scenario);
    let client = scenario.role == Role::Client;
    let requests_travel = if client { Direction::Egress } else { Direction::Ingress };
    let wire = Wire::new(scenario.role, scenario.starts.0, scenario.starts.1);
    let choices = scenario.choices.clone().into_iter();
    let mut play = Play { wire, choices, asked, answered, requests_travel, harm, room: false };

    let mut truth = Vec::new();
    let (mut asked, mut answered) = (0, 0);
    for (turn, &(request, response)) in scenario.turns.iter().enumerate() {
        let (start, sent) = if client {
            play.leaves(asked, asked + request)
        } else {
            let (seen, _, complete) = play.arrives(asked, asked + request);
            (seen, complete)
        };
        asked += request;
        let last = turn + 1 == scenario.turns.len();
        let mut exchange = Completed {
            start: Timestamp(start),
            sent: Nanoseconds(sent - start),
            request_bytes: request.into(),
            ..Completed::default()
        };
        if last && !scenario.answered {
            truth.push(exchange);
            break;
        }
        if last && client && scenario.end == End::ResponderDone && play.choice(3) == 2 {
            // Ahead of the data. Data that is refused afterwards cannot be told from data that is not.
            play.ends(Direction::Ingress, answered + response, FIN);
            play.room = true;
        }
        let (first, complete) = if client {
            let (_, readable, complete) = play.arrives(answered, answered + response);
            (readable, complete)
        } else {
            play.leaves(answered, answered + response)
        };
        answered += response;
        exchange.latency = Nanoseconds(first - start);
        exchange.complete = Nanoseconds(complete - start);
        exchange.response_bytes = response.into();
        truth.push(exchange);
    }

    let (requests, responses) = (requests_travel, opposite(requests_travel));
    let (end, from_requester) = match scenario.end {
        End::ResponderDone => (play.ends(responses, answered, FIN), false),
        End::ResponderResets => (play.ends(responses, answered, RST), false),
        End::RequesterResets => (play.ends(requests, asked, RST), true),
        End::Silent => (play.tick(), false),
    };
    play.wire.close();
    if let (Some(unanswered), false) = (truth.last_mut(), scenario.answered) {
        unanswered.latency = Nanoseconds(end - unanswered.start.0);
        unanswered.complete = UNKNOWN_DURATION;
        unanswered.outcome = match scenario.end {
            End::Silent => Outcome::Timeout,
            _ if from_requester == client => Outcome::Cancelled,
            _ => Outcome::Reset,
        };
    }
    (truth, play.wire)
}

/// What has to be the same.
fn essence(exchange: &Completed) -> impl PartialEq + std::fmt::Debug + use<> {
    let Completed { start, sent, latency, complete, request_bytes, response_bytes, outcome, .. } = *exchange;
    (start, sent, latency, complete, request_bytes, response_bytes, outcome)
}

fn check(scenario: &Scenario, harm: bool) -> Result<(), TestCaseError> {
    let (truth, wire) = play(scenario, harm);
    let truth: Vec<_> = truth.iter().map(essence).collect();
    let seen: Vec<_> = wire.completed.iter().map(essence).collect();
    if harm && scenario.speech == Speech::Http {
        // A request line that comes late or in small pieces may leave a doubt, which then is counted.
        for exchange in &seen {
            prop_assert!(truth.contains(exchange), "{exchange:?} is none of {truth:#?}");
        }
        prop_assert!(seen.len() <= truth.len());
        prop_assert!(seen.len() + wire.uncertain.len() >= truth.len(), "{seen:#?} of {truth:#?}");
    } else {
        prop_assert_eq!(seen, truth);
        prop_assert!(wire.uncertain.is_empty(), "{:?}", wire.uncertain);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_096, max_shrink_iters: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without any harm, every exchange is certain.
    #[test]
    fn a_clean_conversation_is_paired(scenario in scenarios()) {
        check(&scenario, false)?;
    }

    /// Duplicated, reordered, joined, split and refused segments change nothing, or are counted.
    #[test]
    fn a_harmed_conversation_is_paired_the_same_or_counted(scenario in scenarios()) {
        check(&scenario, true)?;
    }
}
