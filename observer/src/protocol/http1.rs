//! HTTP/1 (RFC 9112): method and path template, status code.

use observer_common::Protocol;

use super::{
    Turn,
    batch::{self, Commands},
    find, path,
    text::{Case, Text},
    verdict::Verdict,
};

/// The longest method that is believed: `UPDATEREDIRECTREF` (RFC 4437) is the longest registered one.
const LONGEST_METHOD: usize = 17;
/// What the version of a request line begins with.
const VERSION: &[u8] = b"HTTP/1.";
/// The beginning of a status line (RFC 9112, section 4).
const STATUS_LINE: &[u8] = b"HTTP/1.";

/// A request line, as far as it was kept.
struct RequestLine<'a> {
    method: &'a [u8],
    target: &'a [u8],
    /// Whether the target may go on beyond what was kept.
    cut: bool,
    /// Whether the version was seen, at least its beginning.
    version: bool,
    /// Where the line ends, where it does.
    end: Option<usize>,
}

/// Whether the request begins as one of HTTP/1 does; where its first line was cut, what else is known decides.
pub(super) fn recognise(turn: &Turn<'_>) -> bool {
    certain_line(turn).is_some()
}

fn certain_line<'a>(turn: &Turn<'a>) -> Option<RequestLine<'a>> {
    request_line(turn.request).filter(|line| {
        line.version || turn.protocol == Protocol::Http1 || turn.response.starts_with(STATUS_LINE)
    })
}

/// Reads a turn of HTTP/1: what it is, and how many requests were seen in it.
pub(super) fn read(turn: &Turn<'_>, class: &mut Text, status: &mut Text) -> (Verdict, usize) {
    let Some(line) = certain_line(turn) else {
        // The beginning of a request may have passed unseen, together with the handshake.
        let unseen = turn.request.is_empty() && turn.response.starts_with(STATUS_LINE);
        return (if unseen { read_status(turn, status) } else { Verdict::Contradiction }, 0);
    };
    let mut requests = 1;
    if let Some((methods, cut)) = pipelined(turn, &line) {
        requests = methods.seen();
        batch::write(class, methods.common(), Case::Kept, cut);
    } else {
        class.push_ascii(line.method);
        if line.method != b"CONNECT" {
            class.push_byte(b' ');
            path::write(class, line.target, line.cut);
        }
    }
    (read_status(turn, status), requests)
}

fn read_status(turn: &Turn<'_>, status: &mut Text) -> Verdict {
    let code = status_code(turn.response);
    if let Some(code) = code {
        status.push_number(code.into());
    }
    Verdict::Exchange { failed: code.is_some_and(|code| Protocol::Http1.is_failure(code)) }
}

/// Reads the line that a request begins with; nothing where it is none.
fn request_line(bytes: &[u8]) -> Option<RequestLine<'_>> {
    let space = bytes.iter().take(LONGEST_METHOD + 1).position(|&byte| byte == b' ')?;
    let (method, rest) = bytes.split_at(space);
    if method.is_empty() || !method.iter().all(|&byte| byte.is_ascii_uppercase() || byte == b'-') {
        return None;
    }
    let rest = rest.get(1..)?;
    let begins = matches!(rest.first(), None | Some(b'/' | b'*'))
        || method == b"CONNECT"
        || rest.starts_with(b"http:")
        || rest.starts_with(b"https:");
    if !begins {
        return None;
    }
    let target_end = rest.iter().position(u8::is_ascii_whitespace);
    let Some(target_end) = target_end else {
        return Some(RequestLine { method, target: rest, cut: true, version: false, end: None });
    };
    let (target, after) = rest.split_at(target_end);
    let after = after.get(1..)?;
    let version = after.get(..VERSION.len()).unwrap_or(after);
    if !VERSION.starts_with(version) || target.is_empty() {
        return None;
    }
    let end = find::byte(after, b'\n').map(|end| space + 1 + target_end + 1 + end + 1);
    Some(RequestLine { method, target, cut: false, version: version == VERSION, end })
}

/// The methods of requests that were sent together, and whether there were more than were seen; nothing where
/// only one is certain: its head was not kept whole, or it ends with the request.
fn pipelined<'a>(turn: &Turn<'a>, first: &RequestLine<'a>) -> Option<(Commands<'a>, bool)> {
    let mut methods = Commands::default();
    methods.add(Some(first.method));
    let mut start = 0_u64;
    let mut line_end = first.end?;
    loop {
        let kept = turn.request.get(usize::try_from(start).ok()?..)?;
        let Some(length) = length(kept, line_end) else {
            return (methods.seen() > 1).then_some((methods, true));
        };
        start = start.saturating_add(length);
        if start >= turn.request_bytes {
            return (methods.seen() > 1).then_some((methods, false));
        }
        let next = usize::try_from(start).ok().and_then(|start| turn.request.get(start..));
        let Some(line) = next.and_then(request_line) else {
            return Some((methods, true));
        };
        methods.add(Some(line.method));
        let Some(end) = line.end else {
            return Some((methods, true));
        };
        line_end = end;
    }
}

/// How long the first request is, head and body; nothing where that was not seen.
fn length(bytes: &[u8], line_end: usize) -> Option<u64> {
    let mut position = line_end;
    let mut body = 0;
    loop {
        let rest = bytes.get(position..)?;
        let end = find::byte(rest, b'\n')?;
        let line = rest.get(..end)?.trim_ascii();
        position += end + 1;
        if line.is_empty() {
            return Some((position as u64).saturating_add(body));
        }
        // Only lines of these names matter.
        if !matches!(line, [b'C' | b'c' | b'T' | b't' | b'U' | b'u', ..]) {
            continue;
        }
        let colon = find::byte(line, b':')?;
        let (name, value) = line.split_at(colon);
        if name.eq_ignore_ascii_case(b"content-length") {
            body = decimal(value.get(1..)?.trim_ascii())?;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") || name.eq_ignore_ascii_case(b"upgrade") {
            return None;
        }
    }
}

fn decimal(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The code of the final response: interim ones (RFC 9110, section 15.2) are passed over, a change of protocol is
/// final.
fn status_code(response: &[u8]) -> Option<u32> {
    let mut rest = response;
    loop {
        let line = rest.strip_prefix(STATUS_LINE)?;
        let code = decimal(line.get(1..)?.strip_prefix(b" ")?.get(..3)?)?;
        if !(100..200).contains(&code) || code == 101 {
            return u32::try_from(code).ok();
        }
        let head = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
        rest = rest.get(head + 4..)?;
    }
}
