//! memcached: text and meta commands
//! (<https://github.com/memcached/memcached/blob/master/doc/protocol.txt>).

use super::{
    LeftOut, Turn,
    batch::{self, Commands},
    connections::{Connection, Mode},
    text::{Case, Text},
    verdict::Verdict,
};

/// The longest value that is believed.
const LONGEST_VALUE: u64 = 1 << 30;
/// The commands that are known.
const VERBS: [&[u8]; 28] = [
    b"get",
    b"gets",
    b"gat",
    b"gats",
    b"set",
    b"add",
    b"replace",
    b"append",
    b"prepend",
    b"cas",
    b"incr",
    b"decr",
    b"delete",
    b"touch",
    b"mg",
    b"ms",
    b"md",
    b"ma",
    b"mn",
    b"me",
    b"stats",
    b"version",
    b"verbosity",
    b"flush_all",
    b"watch",
    b"quit",
    b"slabs",
    b"lru_crawler",
];
/// What answers begin with, numbers apart.
const ANSWERS: [&[u8]; 21] = [
    b"VALUE ",
    b"END\r\n",
    b"STORED\r\n",
    b"NOT_STORED\r\n",
    b"EXISTS\r\n",
    b"NOT_FOUND\r\n",
    b"DELETED\r\n",
    b"TOUCHED\r\n",
    b"OK\r\n",
    b"ERROR\r\n",
    b"CLIENT_ERROR ",
    b"SERVER_ERROR ",
    b"VERSION ",
    b"STAT ",
    b"HD",
    b"VA ",
    b"EN\r\n",
    b"NS",
    b"NF",
    b"EX",
    b"MN\r\n",
];
/// What an answer begins with that is none, and the status.
const ERRORS: [(&[u8], &str); 3] =
    [(b"ERROR\r\n", "ERROR"), (b"CLIENT_ERROR", "CLIENT_ERROR"), (b"SERVER_ERROR", "SERVER_ERROR")];

/// One command.
struct Command<'a> {
    verb: &'a [u8],
    /// Its length with its value; nothing where its line goes on beyond what was kept.
    length: Option<u64>,
    /// Whether it asked not to be answered.
    silent: bool,
}

/// Whether a turn is one of memcached: a command, and the beginning of an answer that only it gives.
pub(super) fn recognise(turn: &Turn<'_>) -> bool {
    let Some(command) = command(turn.request) else {
        return false;
    };
    let counts =
        matches!(command.verb, b"incr" | b"decr") && turn.response.first().is_some_and(u8::is_ascii_digit);
    counts || ANSWERS.iter().any(|answer| turn.response.starts_with(answer))
}

/// Reads a turn of memcached.
pub(super) fn read(
    turn: &Turn<'_>,
    connection: &mut Connection,
    class: &mut Text,
    status: &mut Text,
) -> Verdict {
    if connection.mode == Mode::Pushing {
        return Verdict::LeftOut(LeftOut::Push);
    }
    let Some(first) = command(turn.request) else {
        // A command that the server does not know either is one that it says so about.
        if turn.response != b"ERROR\r\n" {
            return Verdict::Contradiction;
        }
        status.push("ERROR");
        return Verdict::Exchange { failed: true };
    };
    match first.verb {
        b"watch" => {
            connection.mode = Mode::Pushing;
            return Verdict::LeftOut(LeftOut::Push);
        }
        b"quit" => return Verdict::LeftOut(LeftOut::Unanswered),
        _ => {}
    }
    let mut commands = Commands::default();
    let mut silent = true;
    let (mut position, mut batch) = (0, false);
    let cut = loop {
        let rest = usize::try_from(position).ok().and_then(|position| turn.request.get(position..));
        let Some(command) = rest.and_then(command) else {
            break true;
        };
        // `mn` only asks for an answer after the quiet ones before it.
        if commands.seen() == 0 || command.verb != b"mn" {
            commands.add(Some(command.verb));
        }
        silent &= command.silent;
        let Some(length) = command.length else {
            break true;
        };
        position += length;
        if position >= turn.request_bytes {
            break position > turn.request_bytes && batch;
        }
        batch = true;
    };
    batch |= commands.seen() > 1;
    if silent && !cut && !turn.answered {
        return Verdict::LeftOut(LeftOut::Unanswered);
    }
    if batch && first.silent {
        // When the first command with an answer was sent is not known.
        return Verdict::LeftOut(LeftOut::Unanswered);
    }
    if batch {
        batch::write(class, commands.common(), Case::Kept, cut);
    } else {
        class.push_ascii(first.verb);
        if cut {
            class.cut();
        }
    }
    let error = ERRORS.iter().find(|(answer, _)| turn.response.starts_with(answer));
    if let Some((_, word)) = error {
        status.push(word);
    }
    let end = turn.response.iter().position(|&byte| byte == b'\n');
    let only = !batch || end.is_some_and(|end| end as u64 + 1 == turn.response_bytes);
    Verdict::Exchange { failed: error.is_some() && only }
}

/// Reads the command at the beginning of `bytes`; nothing where there is none, or not even its verb.
fn command(bytes: &[u8]) -> Option<Command<'_>> {
    let line_end = bytes.iter().position(|&byte| byte == b'\n');
    let line = bytes.get(..line_end.unwrap_or(bytes.len()))?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let verb_end = line.iter().position(|&byte| byte == b' ');
    if line_end.is_none() && verb_end.is_none() {
        return None;
    }
    let verb = line.get(..verb_end.unwrap_or(line.len()))?;
    if !VERBS.contains(&verb) {
        return None;
    }
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let value = match verb {
        b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => words.nth(4),
        b"ms" => words.nth(2),
        _ => None,
    };
    let silent = match verb {
        // Quiet mode keeps the ordinary answers back, not the errors: this turn may be answered.
        b"quit" => true,
        _ => line.ends_with(b" noreply"),
    };
    let Some(line_end) = line_end else {
        return Some(Command { verb, length: None, silent: false });
    };
    let mut length = line_end as u64 + 1;
    if let Some(value) = value {
        let value = std::str::from_utf8(value).ok()?.parse::<u64>().ok()?;
        if value > LONGEST_VALUE {
            return None;
        }
        length += value + 2;
    }
    Some(Command { verb, length: Some(length), silent })
}
