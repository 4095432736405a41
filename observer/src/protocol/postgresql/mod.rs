//! PostgreSQL: frontend/backend protocol 3
//! (<https://www.postgresql.org/docs/current/protocol-message-formats.html>).

mod message;
mod request;
mod response;

use self::{
    message::{Messages, be32},
    request::{Execution, Request, Special},
    response::Answer,
};
use super::{
    LeftOut, Turn, batch,
    connections::Connection,
    hash::Hash,
    kind::Kind,
    sql::{self, Dialect},
    text::{Case, Text},
    verdict::Verdict,
    vocabulary::Vocabulary,
};

/// The codes that stand where a version stands in messages without a type.
const CANCEL: u32 = 80_877_102;
const ENCRYPT: [u32; 2] = [80_877_103, 80_877_104];
/// Versions 3.x.
const MAJOR_VERSION: u32 = 3;

/// Whether a turn is one of PostgreSQL: the start of a session, or a query and what answers one.
pub(super) fn recognise(turn: &Turn<'_>) -> bool {
    if untyped(turn).is_some() {
        return true;
    }
    let mut messages = Messages::new(turn.request, turn.request_bytes);
    let Some(message) = messages.next() else {
        return false;
    };
    if message.end > turn.request_bytes || (turn.answered && !response::is_answer(turn)) {
        return false;
    }
    match message.kind {
        b'Q' => {
            let text = message.body.strip_suffix(b"\0").unwrap_or(message.body);
            (message.whole == message.body.ends_with(b"\0")) && is_text(text)
        }
        b'P' => request::parse(message.body).is_some_and(|(name, text)| {
            is_text(text.or_else(|| message.body.get(name.len() + 1..)).unwrap_or_default())
        }),
        // Too short to be certain by itself: BindComplete follows nothing else.
        b'B' => turn.response.starts_with(b"2\0\0\0\x04"),
        _ => false,
    }
}

fn is_text(text: &[u8]) -> bool {
    !text.contains(&0) && sql::is_sql(text, Dialect::PostgreSql)
}

/// The code or version of a message without a type, with which a session begins.
fn untyped(turn: &Turn<'_>) -> Option<u32> {
    let length = be32(turn.request, 0)?;
    let code = be32(turn.request, 4)?;
    let known = match code {
        CANCEL => (12..=268).contains(&length),
        code if ENCRYPT.contains(&code) => length == 8,
        _ => code >> 16 == MAJOR_VERSION && code & 0xffff < 100 && (8..10_000).contains(&length),
    };
    (known && u64::from(length) <= turn.request_bytes).then_some(code)
}

/// Reads a turn of PostgreSQL.
pub(super) fn read(
    turn: &Turn<'_>,
    connection: &mut Connection,
    classes: &mut Vocabulary,
    class: &mut Text,
    status: &mut Text,
) -> Verdict {
    if let Some(code) = untyped(turn) {
        return begin(code, turn, connection);
    }
    let mut request = Request::default();
    if !request.read(turn, &connection.statements, classes, class) {
        return Verdict::Contradiction;
    }
    let answer = Answer::of(turn);
    remember(&request, &answer, connection);
    let left_out = match request.special {
        Special::Password => Some(LeftOut::Handshake),
        Special::Terminate => Some(LeftOut::Unanswered),
        Special::Copy => Some(LeftOut::Streaming),
        Special::None if answer.copies => Some(LeftOut::Streaming),
        Special::None if answer.notifies => Some(LeftOut::Push),
        Special::None => None,
    };
    if let Some(reason) = left_out {
        return Verdict::LeftOut(reason);
    }
    write_class(&request, classes, class);
    match answer.error {
        None => {}
        Some(b"") => status.push("error"),
        Some(state) => status.push_ascii(state),
    }
    // In a batch the commands before the one that failed were answered.
    Verdict::Exchange { failed: answer.error.is_some() && !(request.batch && answer.completed) }
}

/// What a message without a type begins.
fn begin(code: u32, turn: &Turn<'_>, connection: &mut Connection) -> Verdict {
    if code == CANCEL {
        return Verdict::LeftOut(LeftOut::Unanswered);
    }
    if ENCRYPT.contains(&code) && matches!(turn.response, [b'S' | b'G', ..]) {
        *connection = Connection::new(Kind::Tls);
    }
    Verdict::LeftOut(LeftOut::Handshake)
}

/// Remembers what was prepared for certain, and forgets what is not certain any more.
fn remember(request: &Request, answer: &Answer<'_>, connection: &mut Connection) {
    if request.forgets_all {
        connection.statements.clear();
    }
    for &key in request.closed() {
        connection.statements.remove(key);
    }
    for (index, &(key, word)) in request.parsed().iter().enumerate() {
        if index < answer.parsed {
            connection.statements.insert(key, word);
        } else if answer.error.is_none() {
            // It may have been prepared all the same; an error that came first would say that it was not.
            connection.statements.remove(key);
        }
    }
}

/// Writes the class; nothing where the statement is not known.
fn write_class(request: &Request, classes: &Vocabulary, class: &mut Text) {
    // A query's class was written as it was read.
    if request.queries == 1 && !request.batch {
        return;
    }
    class.clear();
    if request.batch {
        let (common, unseen) = common_verb(request, classes);
        batch::write(class, common.map(str::as_bytes), Case::Kept, request.cut);
        if unseen {
            class.cut();
        }
        return;
    }
    match request.execution {
        Execution::None => class.push(request.kind),
        Execution::Unknown => return,
        Execution::Of(word) => class.push(classes.text(word)),
    }
    if request.cut {
        class.cut();
    }
}

/// The verb that all statements of a batch have, as far as theirs were seen; and whether none was.
fn common_verb<'a>(request: &Request, classes: &'a Vocabulary) -> (Option<&'a str>, bool) {
    let texts = request.words().iter().map(|&word| classes.text(word));
    let mut verbs = texts.filter(|&text| !sql::hides_verb(text)).map(verb);
    let Some(first) = verbs.next() else {
        return (None, request.unknown == 0);
    };
    let same = request.unknown == 0 && verbs.all(|verb| verb == first);
    (first.filter(|_| same), false)
}

/// The verb in a class; nothing where it stands for several.
fn verb(class: &str) -> Option<&str> {
    class.split([' ', '…']).next().filter(|&verb| verb != "batch" && verb != "other")
}

/// The key under which a statement is remembered.
fn key(name: &[u8]) -> u64 {
    Hash::of(name)
}
