//! Redis: RESP2, RESP3 and inline commands (<https://redis.io/docs/latest/develop/reference/protocol-spec/>).

mod command;

use self::command::Command;
use super::{
    LeftOut, Turn,
    batch::{self, Commands},
    connections::{Connection, Mode},
    text::{Case, Text},
    verdict::Verdict,
};

/// The port that settles doubts.
const PORT: u16 = 6379;
/// The longest error word that is taken for one; scripts may reply with any text.
const LONGEST_ERROR: usize = 24;
/// The class of a command that was not executed yet: its transaction is still being collected.
const QUEUED: &str = "QUEUED";
/// After these the server speaks unasked.
const SUBSCRIBING: [&[u8]; 4] = [b"SUBSCRIBE", b"PSUBSCRIBE", b"SSUBSCRIBE", b"MONITOR"];
/// These may end what the above began.
const UNSUBSCRIBING: [&[u8]; 3] = [b"UNSUBSCRIBE", b"PUNSUBSCRIBE", b"SUNSUBSCRIBE"];
/// These make the connection one of replication.
const REPLICATING: [&[u8]; 3] = [b"SYNC", b"PSYNC", b"REPLCONF"];
/// Lines that other protocols do not have, which are answered with a bare `+OK`.
const ANSWERED_OK: [&[u8]; 5] = [b"SET", b"SELECT", b"MSET", b"FLUSHALL", b"FLUSHDB"];

/// These are not answered, nor is what follows them.
const SILENCING: [&[u8]; 4] = [
    b"*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n",
    b"*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$4\r\nSKIP\r\n",
    b"CLIENT REPLY OFF",
    b"CLIENT REPLY SKIP",
];

/// What the commands of a request are.
struct Request<'a> {
    commands: Commands<'a>,
    /// A command after which there are no exchanges, and the reason.
    ends: Option<LeftOut>,
    /// Whether all that was seen ends a subscription.
    unsubscribes: bool,
    resets: bool,
    /// Which of the commands asks for silence, from 1.
    silences: Option<usize>,
}

/// Whether a turn is one of Redis. Arrays of bulk strings are its own; a line is only with its answer.
pub(super) fn recognise(turn: &Turn<'_>) -> bool {
    let (bytes, response) = (turn.request, turn.response);
    match command::read(bytes, turn.request_bytes) {
        Command::Invalid => false,
        _ if bytes.starts_with(b"*") => {
            command::is_array_of_strings(bytes) && (response.is_empty() || is_reply(response))
        }
        Command::Whole { name: Some(name), .. } if turn.answered => {
            let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
            match response {
                // The greeting of mail and message servers looks the same: the command must be our own.
                [b'+', ..] => {
                    (is(b"PING") && response.starts_with(b"+PONG\r\n"))
                        || (response == b"+OK\r\n" && ANSWERED_OK.into_iter().any(is))
                        || (turn.port == PORT && is_reply(response))
                }
                [b'-', ..] => turn.port == PORT && is_reply(response),
                _ => is_reply(response),
            }
        }
        _ => false,
    }
}

/// Whether bytes begin as a reply does.
fn is_reply(bytes: &[u8]) -> bool {
    let Some((kind, rest)) = bytes.split_first() else {
        return false;
    };
    let line = rest.split(|&byte| byte == b'\r').next().unwrap_or_default();
    match kind {
        b'+' | b'-' => line.iter().all(|byte| !byte.is_ascii_control()),
        b':' | b'$' | b'*' | b'%' | b'~' | b'>' | b'!' | b'=' | b'|' => {
            let digits = line.strip_prefix(b"-").unwrap_or(line);
            !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        }
        b'_' => line.is_empty(),
        b'#' => line == b"t" || line == b"f",
        b',' | b'(' => !line.is_empty() && line.iter().all(u8::is_ascii_graphic),
        _ => false,
    }
}

/// Reads a turn of Redis.
pub(super) fn read(
    turn: &Turn<'_>,
    connection: &mut Connection,
    class: &mut Text,
    status: &mut Text,
) -> Verdict {
    let framed = turn.request.starts_with(b"*");
    if connection.mode == Mode::Streaming {
        return Verdict::LeftOut(LeftOut::Streaming);
    }
    // A client that sends arrays sends nothing else: a line is the middle of a value.
    let request = if connection.framed && !framed { None } else { read_request(turn) };
    let Some(request) = request else {
        return Verdict::Contradiction;
    };
    connection.framed |= framed;
    if connection.mode == Mode::Pushing {
        // The last unsubscription says that no subscription is left.
        let none_left = request.unsubscribes
            && turn.response_bytes == turn.response.len() as u64
            && turn.response.ends_with(b":0\r\n");
        if request.resets || none_left {
            connection.mode = Mode::Ordinary;
        }
        return Verdict::LeftOut(LeftOut::Push);
    }
    if request.silences.is_some() || connection.mode == Mode::Silent {
        // An answer ends the silence, unless it is one to a command before.
        let over = turn.answered && request.silences.is_none_or(|place| place == 1);
        connection.mode = if over { Mode::Ordinary } else { Mode::Silent };
        return Verdict::LeftOut(LeftOut::Unanswered);
    }
    match request.ends {
        Some(LeftOut::Streaming) => connection.mode = Mode::Streaming,
        Some(LeftOut::Push) => connection.mode = Mode::Pushing,
        _ => {}
    }
    if let Some(reason) = request.ends {
        return Verdict::LeftOut(reason);
    }
    if turn.response.starts_with(b">") {
        return Verdict::LeftOut(LeftOut::Push);
    }
    write_class(&request, turn.response, class);
    let only = !request.commands.batch || is_one_line(turn);
    let error = read_error(turn.response, status);
    Verdict::Exchange { failed: error && only }
}

/// Reads the commands of a request; nothing where it does not begin with one.
fn read_request<'a>(turn: &Turn<'a>) -> Option<Request<'a>> {
    let mut request = Request {
        commands: Commands::default(),
        ends: None,
        unsubscribes: true,
        resets: false,
        silences: None,
    };
    let mut rest = turn.request;
    let mut left = turn.request_bytes;
    loop {
        let (name, end, sole) = match command::read(rest, left) {
            Command::Whole { name, end } => (name, Some(end), false),
            // Its name is beyond what was kept.
            Command::Cut { name: None, .. } if request.commands.batch => {
                request.commands.cut = true;
                break;
            }
            Command::Cut { name, sole } => (name, None, sole),
            Command::Invalid if request.commands.seen() == 0 => return None,
            Command::Invalid => {
                request.commands.cut = true;
                break;
            }
        };
        request.commands.add(name);
        if is_silencing(rest) {
            request.silences = request.silences.or(Some(request.commands.seen()));
        }
        if let Some(name) = name {
            request.note(name);
        }
        let Some(end) = end.filter(|&end| end <= left) else {
            request.commands.cut = !sole;
            break;
        };
        left -= end;
        if left == 0 {
            break;
        }
        request.commands.batch = true;
        rest = usize::try_from(end).ok().and_then(|end| rest.get(end..)).unwrap_or_default();
        if rest.is_empty() {
            request.commands.cut = true;
            break;
        }
    }
    Some(request)
}

/// Whether bytes begin with a command that asks for silence.
fn is_silencing(bytes: &[u8]) -> bool {
    let begins =
        |command: &[u8]| bytes.get(..command.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(command));
    SILENCING.into_iter().any(begins)
}

impl Request<'_> {
    /// Takes note of a command that changes what the connection does.
    fn note(&mut self, name: &[u8]) {
        let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
        if SUBSCRIBING.into_iter().any(is) {
            self.ends = self.ends.or(Some(LeftOut::Push));
        } else if REPLICATING.into_iter().any(is) {
            self.ends = Some(LeftOut::Streaming);
        }
        self.resets |= is(b"RESET");
        self.unsubscribes &= UNSUBSCRIBING.into_iter().any(is);
    }
}

/// Writes the command's name, or that it is a batch of them; nothing where the name is not known.
fn write_class(request: &Request<'_>, response: &[u8], class: &mut Text) {
    let first = request.commands.first();
    let transaction = first.is_some_and(|name| name.eq_ignore_ascii_case(b"MULTI"));
    if request.commands.batch {
        let common = if transaction { first } else { request.commands.common() };
        batch::write(class, common, Case::Upper, request.commands.cut && !transaction);
        return;
    }
    if response.starts_with(b"+QUEUED\r\n") {
        class.push(QUEUED);
    } else if let Some(name) = first {
        class.push_cased(name, Case::Upper);
        if request.commands.cut {
            class.cut();
        }
    }
}

/// Whether the response is one line: the only reply.
fn is_one_line(turn: &Turn<'_>) -> bool {
    let end = turn.response.iter().position(|&byte| byte == b'\n');
    end.is_some_and(|end| end as u64 + 1 == turn.response_bytes)
}

/// Writes the error that a response begins with; whether it does.
fn read_error(response: &[u8], status: &mut Text) -> bool {
    let message = match response {
        [b'-', message @ ..] => message,
        // The long form of RESP3: its length comes first.
        [b'!', rest @ ..] => {
            let line = rest.iter().position(|&byte| byte == b'\n');
            line.and_then(|line| rest.get(line + 1..)).unwrap_or_default()
        }
        _ => return false,
    };
    let word = message.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let is_word = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    if !word.is_empty()
        && word.len() <= LONGEST_ERROR
        && word.len() < message.len()
        && word.iter().all(is_word)
    {
        status.push_ascii(word);
    } else {
        status.push("error");
    }
    true
}
