//! MySQL and MariaDB: the client/server protocol
//! (<https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>).

mod packet;
mod request;

use self::{
    packet::{Packet, Packets, le16, le32},
    request::{Command, Query, Request},
};
use super::{
    LeftOut, Turn, batch,
    connections::{Connection, Mode},
    kind::Kind,
    sql::{self, Dialect},
    text::{Case, Text},
    verdict::Verdict,
    vocabulary::Vocabulary,
};

/// The port that settles doubts.
const PORT: u16 = 3306;
/// Capabilities of a client (`CLIENT_COMPRESS`, `CLIENT_PROTOCOL_41`, `CLIENT_SSL`,
/// `CLIENT_ZSTD_COMPRESSION_ALGORITHM`).
const COMPRESS: u32 = 1 << 5;
const PROTOCOL_41: u32 = 1 << 9;
const SSL: u32 = 1 << 11;
const COMPRESS_ZSTD: u32 = 1 << 26;
/// How long a login is up to the user's name: all of it where encryption comes first.
const LOGIN: usize = 32;
/// The zero bytes in it that both servers' clients send.
const FILLER: std::ops::Range<usize> = 9..28;
/// What a response's first packet begins with.
const OK: u8 = 0x00;
const LOCAL_INFILE: u8 = 0xfb;
const ERROR: u8 = 0xff;

/// Whether a turn is one of MySQL: a login, or a command that nothing else looks like and what answers it.
pub(super) fn recognise(turn: &Turn<'_>) -> bool {
    let Some(packet) = Packets::new(turn.request).next() else {
        return false;
    };
    if packet.end > turn.request_bytes {
        return false;
    }
    if packet.sequence == 1 {
        return login(&packet).is_some();
    }
    let answer = Packets::new(turn.response).next();
    let answered = answer.is_some_and(|answer| answer.sequence == 1 && answer.end <= turn.response_bytes);
    if packet.sequence != 0 || (turn.answered && !answered) {
        return false;
    }
    // What follows must be a command too, where it was kept.
    let second = Packets::new(turn.request).nth(1);
    let follows = second.is_some_and(|second| second.sequence == 0 && Command::of(&second).is_some());
    if packet.end < turn.request_bytes && packet.is_whole() && !follows {
        return false;
    }
    match Command::of(&packet) {
        Some(Command::Query | Command::Prepare) => {
            Query::of(&packet).is_some_and(|query| sql::is_sql(query.text, Dialect::MySql))
        }
        // The count of iterations is always one.
        Some(Command::Execute) => answered && packet.body.get(6..10) == Some(&[1, 0, 0, 0]),
        Some(Command::Ping) => answered && turn.port == PORT,
        _ => false,
    }
}

/// The capabilities in a login, or in the request for encryption before it; nothing where it is neither.
fn login(packet: &Packet<'_>) -> Option<u32> {
    let capabilities = le32(packet.body, 0)?;
    let filler = packet.body.get(FILLER)?;
    let long = packet.length > LOGIN || (packet.length == LOGIN && capabilities & SSL != 0);
    (capabilities & PROTOCOL_41 != 0 && filler.iter().all(|&byte| byte == 0) && long).then_some(capabilities)
}

/// Reads a turn of MySQL.
pub(super) fn read(
    turn: &Turn<'_>,
    connection: &mut Connection,
    classes: &mut Vocabulary,
    class: &mut Text,
    status: &mut Text,
) -> Verdict {
    let Some(first) = Packets::new(turn.request).next() else {
        return if turn.request.len() < packet::HEADER { Verdict::FINE } else { Verdict::Contradiction };
    };
    if first.sequence == 1
        && let Some(capabilities) = login(&first)
    {
        begin(capabilities, &first, connection);
        return Verdict::LeftOut(LeftOut::Handshake);
    }
    match connection.mode {
        Mode::Compressed => return Verdict::FINE,
        // A file goes to the server, or events come from it, until the next command.
        Mode::Streaming if first.sequence != 0 => return Verdict::LeftOut(LeftOut::Streaming),
        _ => connection.mode = Mode::Ordinary,
    }
    if first.end > turn.request_bytes {
        return Verdict::Contradiction;
    }
    // Only what continues a dialogue has another number: authentication.
    if first.sequence != 0 {
        return Verdict::LeftOut(LeftOut::Handshake);
    }
    let Some(request) = Request::read(turn) else {
        return Verdict::Contradiction;
    };
    let answer = Packets::new(turn.response).next();
    let head = answer.and_then(|answer| answer.body.first().copied());
    if request.forgets {
        connection.statements.clear();
    }
    for &id in request.closed.iter().flatten() {
        connection.statements.remove(id.into());
    }
    if let Some(reason) = request.left_out {
        if reason == LeftOut::Streaming {
            connection.mode = Mode::Streaming;
        }
        return Verdict::LeftOut(reason);
    }
    if head == Some(LOCAL_INFILE) && request.query.is_some() {
        connection.mode = Mode::Streaming;
        return Verdict::LeftOut(LeftOut::Streaming);
    }
    if let (Some(query), Some(answer)) = (request.prepared, answer)
        && head == Some(OK)
        && let Some(id) = le32(answer.body, 1)
    {
        query.write_class(true, class);
        connection.statements.insert(id.into(), classes.word(class.as_str()));
        class.clear();
    }
    write_class(&request, connection, classes, class);
    let error = head == Some(ERROR);
    if error {
        match answer.and_then(|answer| le16(answer.body, 1)) {
            Some(number) => status.push_number(number.into()),
            None => status.push("error"),
        }
    }
    let only = !request.commands.batch || answer.is_some_and(|answer| answer.end == turn.response_bytes);
    Verdict::Exchange { failed: error && only }
}

/// What a login begins.
fn begin(capabilities: u32, login: &Packet<'_>, connection: &mut Connection) {
    // No more than that was sent: encryption comes next.
    if capabilities & SSL != 0 && login.length == LOGIN {
        *connection = Connection::new(Kind::Tls);
    } else if capabilities & (COMPRESS | COMPRESS_ZSTD) != 0 {
        // The server may not agree; then its messages are not read although they could be.
        connection.mode = Mode::Compressed;
    }
}

/// Writes the class; nothing where the statement is not known.
fn write_class(request: &Request<'_>, connection: &Connection, classes: &Vocabulary, class: &mut Text) {
    if request.commands.batch {
        batch::write(class, request.commands.common(), Case::Kept, request.commands.cut);
    } else if let Some(query) = request.query {
        query.write_class(false, class);
    } else if let Some(id) = request.executed {
        if let Some(word) = connection.statements.get(id.into()) {
            class.push(classes.text(word));
        }
    } else if let Some(name) = request.commands.first().filter(|_| !request.unreadable) {
        class.push_ascii(name);
    }
}
