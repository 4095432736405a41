//! What the frontend's messages ask for.

use super::{
    super::{
        Turn,
        sql::{self, Dialect, Extent},
        statements::Statements,
        text::Text,
        vocabulary::{Vocabulary, Word},
    },
    key,
    message::{Message, Messages, text},
};

/// The types of messages that a frontend sends.
const TYPES: &[u8] = b"BCDEFHPQSXcdfp";
/// The shortest messages, with their type and length.
const SHORTEST_BIND: u64 = 13;
const SHORTEST_EXECUTE: u64 = 10;
const SYNC: u64 = 5;
/// The longest run of messages after which only one execution fits: of a bound statement, of a prepared one.
const SECOND_AFTER_BIND: u64 = SHORTEST_EXECUTE + SHORTEST_BIND + SHORTEST_EXECUTE + SYNC;
const SECOND_AFTER_PARSE: u64 = SHORTEST_BIND + SECOND_AFTER_BIND;
/// How many messages of a kind are noted: hardly more fit into what is kept of a request.
const MOST: usize = 12;

/// What is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Execution {
    /// Nothing.
    #[default]
    None,
    /// A statement whose text is not known.
    Unknown,
    /// A statement of this class.
    Of(Word),
}

/// A few things, without allocation; what does not fit is left out.
#[derive(Clone, Copy, Debug, Default)]
struct Few<T> {
    things: [T; MOST],
    count: usize,
}

impl<T> Few<T> {
    /// Adds a thing; whether it fitted.
    fn push(&mut self, thing: T) -> bool {
        let Some(place) = self.things.get_mut(self.count) else {
            return false;
        };
        *place = thing;
        self.count += 1;
        true
    }

    fn as_slice(&self) -> &[T] {
        self.things.get(..self.count).unwrap_or_default()
    }
}

/// What a request asks for.
#[derive(Debug, Default)]
pub(super) struct Request {
    parsed: Few<(u64, Word)>,
    closed: Few<u64>,
    words: Few<Word>,
    /// How many simple queries there are.
    pub(super) queries: usize,
    executions: usize,
    syncs: usize,
    bound: Execution,
    binds: usize,
    /// How long the name of the last prepared statement is.
    name_length: u64,
    /// What it is called where nothing is executed.
    pub(super) kind: &'static str,
    /// What is executed, where it is one thing.
    pub(super) execution: Execution,
    /// Whether several things are executed.
    pub(super) batch: bool,
    /// Whether more may be executed than was seen.
    pub(super) cut: bool,
    /// How many statements are executed whose text is not known.
    pub(super) unknown: usize,
    /// What else it is.
    pub(super) special: Special,
    /// Whether all prepared statements are gone.
    pub(super) forgets_all: bool,
}

/// What is no query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Special {
    #[default]
    None,
    /// Authentication.
    Password,
    /// Data of a copy.
    Copy,
    /// The end of the session.
    Terminate,
}

impl Request {
    /// Reads the request of a turn; false where it does not begin with a message of a frontend. The class of a
    /// simple query is left in `class`.
    pub(super) fn read(
        &mut self,
        turn: &Turn<'_>,
        statements: &Statements,
        classes: &mut Vocabulary,
        class: &mut Text,
    ) -> bool {
        let mut messages = Messages::new(turn.request, turn.request_bytes);
        let mut seen = 0_usize;
        for message in messages.by_ref() {
            if !TYPES.contains(&message.kind) || message.end > turn.request_bytes {
                break;
            }
            seen += 1;
            match message.kind {
                b'Q' => self.query(&message, classes, class),
                b'P' => self.parse(&message, classes, class),
                b'B' => self.bind(&message, statements),
                _ => self.other(&message, seen == 1),
            }
        }
        // Less than the header of a message may have been kept.
        let short = turn.request.len() < 5 && turn.request.first().is_some_and(|kind| TYPES.contains(kind));
        if seen == 0 {
            self.cut = true;
            self.execution = Execution::Unknown;
            return short && turn.request_bytes > turn.request.len() as u64;
        }
        self.conclude(messages.left(), classes, class);
        true
    }

    /// The statements that are prepared, by their keys.
    pub(super) fn parsed(&self) -> &[(u64, Word)] {
        self.parsed.as_slice()
    }

    /// The keys of the statements that are closed.
    pub(super) fn closed(&self) -> &[u64] {
        self.closed.as_slice()
    }

    /// The classes of what is executed.
    pub(super) fn words(&self) -> &[Word] {
        self.words.as_slice()
    }

    fn execute(&mut self, word: Word) {
        self.unknown += usize::from(!self.words.push(word));
    }

    fn query(&mut self, message: &Message<'_>, classes: &mut Vocabulary, class: &mut Text) {
        if self.queries > 0 {
            self.execute(classes.word(class.as_str()));
        }
        self.queries += 1;
        self.cut |= !message.whole;
        class.clear();
        let text = message.body.strip_suffix(b"\0").unwrap_or(message.body);
        let extent = Extent { cut: !message.whole, sole: false };
        sql::write_class(text, Dialect::PostgreSql, extent, class);
    }

    fn parse(&mut self, message: &Message<'_>, classes: &mut Vocabulary, class: &mut Text) {
        self.kind = "PREPARE";
        let Some((name, query)) = parse(message.body) else {
            self.name_length = 0;
            return;
        };
        if self.queries > 0 {
            self.unknown += 1;
            return;
        }
        class.clear();
        let cut = query.is_none();
        let query = query.or_else(|| message.body.get(name.len() + 1..)).unwrap_or_default();
        sql::write_class(query, Dialect::PostgreSql, Extent { cut, sole: true }, class);
        self.name_length = name.len() as u64;
        self.parsed.push((key(name), classes.word(class.as_str())));
        class.clear();
    }

    fn bind(&mut self, message: &Message<'_>, statements: &Statements) {
        let name = text(message.body).and_then(|(_portal, rest)| text(rest));
        self.bound = Execution::Unknown;
        self.binds += 1;
        if let Some((name, _)) = name {
            let key = key(name);
            let here = self.parsed().iter().rev().find(|parsed| parsed.0 == key).map(|parsed| parsed.1);
            if let Some(word) = here.or_else(|| statements.get(key)) {
                self.bound = Execution::Of(word);
            }
        }
    }

    fn other(&mut self, message: &Message<'_>, first: bool) {
        match message.kind {
            b'E' => {
                self.executions += 1;
                match self.bound {
                    Execution::Of(word) => self.execute(word),
                    Execution::None | Execution::Unknown => self.unknown += 1,
                }
            }
            b'F' => self.kind = "FUNCTION",
            b'D' if self.kind.is_empty() || self.kind == "CLOSE" => self.kind = "DESCRIBE",
            b'C' => {
                if let Some((b"S", name)) = message.body.split_at_checked(1)
                    && let Some((name, _)) = text(name)
                {
                    self.closed.push(key(name));
                }
                if self.kind.is_empty() {
                    self.kind = "CLOSE";
                }
            }
            b'S' => self.syncs += 1,
            b'c' | b'd' | b'f' => self.special = Special::Copy,
            b'p' => self.special = Special::Password,
            b'X' if first => self.special = Special::Terminate,
            _ => {}
        }
    }

    /// Concludes from what was seen, and from how much was not.
    fn conclude(&mut self, left: u64, classes: &mut Vocabulary, class: &Text) {
        if self.kind.is_empty() {
            self.kind = if self.syncs > 0 { "SYNC" } else { "FLUSH" };
        }
        if self.queries > 0 {
            self.batch = self.queries + self.executions > 1 || left > 0;
            self.cut |= left > 0;
            if self.batch {
                self.execute(classes.word(class.as_str()));
            }
            self.forgets_all = forgets(class.as_str());
            return;
        }
        self.batch = self.executions > 1 || self.syncs > 1;
        self.execution = match self.words().first() {
            _ if self.executions == 0 => Execution::None,
            Some(&word) if self.unknown == 0 => Execution::Of(word),
            _ => Execution::Unknown,
        };
        if left > 0 {
            self.conclude_unseen(left);
        }
        let mut words = self.words().iter();
        self.forgets_all = words.any(|&word| forgets(classes.text(word)));
    }

    /// Concludes from how many bytes there are behind the last message that was seen.
    fn conclude_unseen(&mut self, left: u64) {
        if self.executions > 0 {
            let shortest = if self.binds > self.executions {
                SHORTEST_EXECUTE
            } else {
                SHORTEST_BIND + SHORTEST_EXECUTE
            };
            self.cut = left >= shortest;
        } else if self.bound != Execution::None {
            self.execution = self.bound;
            self.cut = left >= SECOND_AFTER_BIND;
        } else if let Some(&(_, word)) = self.parsed().last() {
            // Describe and Sync, or Flush, and no more.
            let described = 7 + self.name_length + SYNC;
            if left == SYNC || left == described || left < SHORTEST_BIND + SHORTEST_EXECUTE {
                return;
            }
            self.execution = Execution::Of(word);
            self.cut = left >= SECOND_AFTER_PARSE;
        } else {
            self.execution = Execution::Unknown;
            self.cut = true;
        }
    }
}

/// Whether a statement of this class makes the server forget what was prepared, or may contain one that does.
fn forgets(class: &str) -> bool {
    class.starts_with("DEALLOCATE") || class.starts_with("DISCARD") || class.starts_with("batch")
}

/// The name of the statement in a Parse message, and its text; no text where its end was not kept.
pub(super) fn parse(body: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let (name, rest) = text(body)?;
    Some((name, text(rest).map(|(query, _)| query)))
}
