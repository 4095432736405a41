//! One command of a Redis request.

/// The longest name of a command that is believed; modules add `FT.SEARCH` and the like.
const LONGEST_NAME: usize = 24;
/// More arguments than a server takes at once.
const MOST_ARGUMENTS: u64 = 1 << 20;
/// The longest value, 512 MiB.
const LONGEST_VALUE: u64 = 1 << 29;
/// The shortest argument: `$0\r\n\r\n`.
const SHORTEST_ARGUMENT: u64 = 6;
/// The shortest command in the form of an array: `*1\r\n$1\r\nX\r\n`.
const SHORTEST_COMMAND: u64 = 11;

/// What the bytes at the beginning of a command say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command<'a> {
    /// Where it ends is known, though it may be beyond what was kept.
    Whole {
        /// Nothing where it is not one.
        name: Option<&'a [u8]>,
        /// Its length.
        end: u64,
    },
    /// It goes on beyond what was kept.
    Cut {
        /// Nothing where it was cut, or is not one.
        name: Option<&'a [u8]>,
        /// Whether what is left is too short for a further command.
        sole: bool,
    },
    /// Not the beginning of a command.
    Invalid,
}

/// What the header of an array or of a bulk string says.
enum Header {
    /// Its number, and where it ends.
    Whole(u64, usize),
    Cut,
    Invalid,
}

/// Reads the command at the beginning of `bytes`, which are the first of `left`.
pub(super) fn read(bytes: &[u8], left: u64) -> Command<'_> {
    match bytes.first() {
        None => Command::Cut { name: None, sole: false },
        Some(b'*') => read_array(bytes, left),
        Some(byte) if byte.is_ascii_alphabetic() => read_line(bytes),
        Some(_) => Command::Invalid,
    }
}

/// Whether bytes begin with the header of an array and that of a bulk string, both whole.
pub(super) fn is_array_of_strings(bytes: &[u8]) -> bool {
    let Header::Whole(count, end) = header(bytes, b'*', MOST_ARGUMENTS) else {
        return false;
    };
    count > 0
        && matches!(header(bytes.get(end..).unwrap_or_default(), b'$', LONGEST_VALUE), Header::Whole(..))
}

fn read_array(bytes: &[u8], left: u64) -> Command<'_> {
    let (count, mut position) = match header(bytes, b'*', MOST_ARGUMENTS) {
        Header::Whole(count, end) => (count, end as u64),
        Header::Cut => return Command::Cut { name: None, sole: false },
        Header::Invalid => return Command::Invalid,
    };
    let mut name = None;
    for index in 0..count {
        let rest =
            usize::try_from(position).ok().and_then(|position| bytes.get(position..)).unwrap_or_default();
        let (length, end) = match header(rest, b'$', LONGEST_VALUE) {
            Header::Whole(length, end) => (length, end),
            Header::Cut => {
                let shortest = (count - index) * SHORTEST_ARGUMENT;
                // A command that is not over yet has at least this much to come, and another one after it more.
                let sole = name.is_some() && left.saturating_sub(position) < shortest + SHORTEST_COMMAND;
                return Command::Cut { name, sole };
            }
            Header::Invalid => return Command::Invalid,
        };
        if index == 0 {
            let value = usize::try_from(length).ok().and_then(|length| rest.get(end..end + length));
            name = value.filter(|value| is_name(value));
        }
        position += end as u64 + length + 2;
    }
    Command::Whole { name, end: position }
}

/// Reads a command in the form of a line.
fn read_line(bytes: &[u8]) -> Command<'_> {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let line = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
    let name_end = line.iter().position(u8::is_ascii_whitespace);
    let name = line.get(..name_end.unwrap_or(line.len())).unwrap_or_default();
    match end {
        Some(end) if is_name(name) => Command::Whole { name: Some(name), end: end as u64 + 1 },
        None if name.len() <= LONGEST_NAME && name.iter().all(|&byte| is_name_byte(byte)) => {
            Command::Cut { name: name_end.map(|_| name), sole: false }
        }
        _ => Command::Invalid,
    }
}

fn is_name(name: &[u8]) -> bool {
    name.len() <= LONGEST_NAME
        && name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|&byte| is_name_byte(byte))
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// Reads a header: its type, a number up to `most`, a line end.
fn header(bytes: &[u8], kind: u8, most: u64) -> Header {
    let Some((&first, rest)) = bytes.split_first() else {
        return Header::Cut;
    };
    if first != kind {
        return Header::Invalid;
    }
    let mut number = 0_u64;
    for (index, &byte) in rest.iter().enumerate() {
        match byte {
            b'0'..=b'9' => number = number * 10 + u64::from(byte - b'0'),
            b'\r' if index > 0 => {
                return match rest.get(index + 1) {
                    Some(b'\n') => Header::Whole(number, index + 3),
                    Some(_) => Header::Invalid,
                    None => Header::Cut,
                };
            }
            _ => return Header::Invalid,
        }
        if number > most {
            return Header::Invalid;
        }
    }
    Header::Cut
}
