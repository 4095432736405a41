//! The template of a path: its variable parts replaced, so that requests of a kind have one name.

use super::{
    find, numerals,
    text::{Case, Text},
};

/// Segments that are longer say more about one request than about its kind.
const LONGEST_NAME: usize = 32;
/// From this length on, hexadecimal digits are a hash or a key.
const SHORTEST_HASH: usize = 16;
/// From this length on, letters of both cases mixed with digits are a token.
const SHORTEST_TOKEN: usize = 10;
/// From this length on, letters of one case mixed with digits are a token.
const SHORTEST_PLAIN_TOKEN: usize = 20;
/// The longest ending of a file name that is kept: `.jpeg`, `.woff2`.
const LONGEST_ENDING: usize = 5;

/// Adds the template of a path to `class`, which may hold a method already. `truncated` says that the end of the path
/// is missing.
pub fn path_template(path: &str, truncated: bool, class: &mut String) {
    let mut text = Text::new();
    text.push(class);
    write(&mut text, path.as_bytes(), truncated);
    class.clear();
    class.push_str(text.as_str());
}

/// Writes the template of a request target (RFC 9112, section 3.2), query and fragment dropped. Where the target
/// was cut, its last segment is not known to be whole: the template ends before it.
pub(super) fn write(class: &mut Text, target: &[u8], cut: bool) {
    let (mut path, mut cut) = (target, cut);
    for separator in [b'?', b'#'] {
        if let Some(end) = find::byte(path, separator) {
            path = path.get(..end).unwrap_or_default();
            cut = false;
        }
    }
    let Some(path) = after_authority(path) else {
        if cut {
            class.push("/");
            class.cut();
        } else {
            class.push("/");
        }
        return;
    };
    if path == b"*" {
        class.push("*");
        return;
    }
    let mut segments = path.split(|&byte| byte == b'/').skip(1).peekable();
    if segments.peek().is_none() {
        class.push("/");
    }
    while let Some(segment) = segments.next() {
        class.push("/");
        if cut && segments.peek().is_none() {
            class.cut();
        } else {
            write_segment(class, segment);
        }
        if class.is_cut() {
            return;
        }
    }
}

/// The path of a target in absolute form, which proxies get; nothing where it ends before the path.
fn after_authority(target: &[u8]) -> Option<&[u8]> {
    if target.starts_with(b"/") || target == b"*" {
        return Some(target);
    }
    let colon = target.iter().position(|&byte| byte == b':')?;
    let authority = target.get(colon..)?.strip_prefix(b"://")?;
    let slash = authority.iter().position(|&byte| byte == b'/')?;
    authority.get(slash..)
}

/// Writes one segment, or what stands for it.
fn write_segment(class: &mut Text, segment: &[u8]) {
    // Most are plain words: nothing in them varies.
    let plain = segment.iter().fold(true, |plain, &byte| plain & matches!(byte, b'a'..=b'z' | b'-'));
    if plain && segment.len() <= LONGEST_NAME {
        class.push_ascii(segment);
        return;
    }
    // Parameters of the segment, such as session numbers (RFC 3986, section 3.3).
    let name = segment.split(|&byte| byte == b';').next().unwrap_or_default();
    // Where anything is not made as names are, its ending is no file's either.
    let Some(mut made) = Made::of(name) else {
        class.push("{id}");
        return;
    };
    let (stem, ending) = split_ending(name);
    if !ending.is_empty() {
        made = Made::of(stem).unwrap_or_default();
    }
    match placeholder(stem, made) {
        Some(placeholder) => class.push(placeholder),
        None if made.digits == 0 => class.push_ascii(stem),
        None => numerals::write(class, stem, Case::Kept),
    }
    class.push_ascii(ending);
}

/// How many of its characters are what.
#[derive(Clone, Copy, Debug, Default)]
struct Made {
    digits: usize,
    upper: usize,
    lower: usize,
    /// Letters and digits of hexadecimal numbers.
    hexadecimal: usize,
}

impl Made {
    /// What a segment is made of; nothing where it is not made as names are.
    fn of(segment: &[u8]) -> Option<Self> {
        let mut made = Self::default();
        for &byte in segment {
            match byte {
                b'0'..=b'9' => made.digits += 1,
                b'A'..=b'Z' => made.upper += 1,
                b'a'..=b'z' => made.lower += 1,
                _ if !is_name(byte) => return None,
                _ => {}
            }
            made.hexadecimal += usize::from(byte.is_ascii_hexdigit());
        }
        Some(made)
    }
}

/// What stands for a segment that is variable as a whole.
fn placeholder(segment: &[u8], made: Made) -> Option<&'static str> {
    let length = segment.len();
    if length > LONGEST_NAME || made.digits > 0 {
        if is_uuid(segment) {
            return Some("{uuid}");
        }
        if made.digits == length {
            return Some(numerals::PLACEHOLDER);
        }
        if length >= SHORTEST_HASH && made.digits > 0 && made.hexadecimal == length {
            return Some("{hash}");
        }
        let mixed = made.upper > 0 && made.lower > 0 && length >= SHORTEST_TOKEN;
        let plain = length >= SHORTEST_PLAIN_TOKEN && made.digits + made.upper + made.lower == length;
        if length > LONGEST_NAME || mixed || plain {
            return Some("{id}");
        }
    }
    None
}

/// Whether names of resources are made of this; percent-encoded bytes, addresses and pairs are data.
const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b':' | b'$' | b'!')
}

/// Whether it has the form 8-4-4-4-12 (RFC 9562, section 4).
fn is_uuid(segment: &[u8]) -> bool {
    segment.len() == 36
        && segment.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Splits the ending of a file name off, with its dot.
fn split_ending(name: &[u8]) -> (&[u8], &[u8]) {
    let Some(dot) = name.iter().rposition(|&byte| byte == b'.') else {
        return (name, b"");
    };
    let (stem, ending) = name.split_at(dot);
    let is_ending = !stem.is_empty()
        && (2..=LONGEST_ENDING + 1).contains(&ending.len())
        && ending.get(1).is_some_and(u8::is_ascii_alphabetic)
        && ending.iter().skip(1).all(u8::is_ascii_alphanumeric);
    if is_ending { (stem, ending) } else { (name, b"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(target: &str, cut: bool) -> String {
        let mut class = Text::new();
        write(&mut class, target.as_bytes(), cut);
        class.as_str().into()
    }

    #[test]
    fn variable_parts_are_replaced() {
        for (target, expected) in [
            ("/", "/"),
            ("*", "*"),
            ("/users/42/orders?limit=10", "/users/{n}/orders"),
            ("/users/#top", "/users/"),
            ("/api/v1/items/item-17", "/api/v1/items/item-{n}"),
            ("/o/123e4567-e89b-12d3-a456-426614174000", "/o/{uuid}"),
            ("/blob/d41d8cd98f00b204e9800998ecf8427e.jpg", "/blob/{hash}.jpg"),
            ("/t/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0", "/t/{id}"),
            ("/v/dQw4w9WgXcQ1", "/v/{id}"),
            ("/u/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/u/{id}"),
            ("/mail/joe@example.org", "/mail/{id}"),
            ("/q/a%20b", "/q/{id}"),
            ("/a;jsessionid=1234/b", "/a/b"),
            ("/a-very-long-title-of-an-article-somebody-wrote", "/{id}"),
            ("http://example.org/a/1", "/a/{n}"),
            ("http://example.org", "/"),
            ("/caf\u{e9}", "/{id}"),
            ("/.well-known/health", "/.well-known/health"),
            ("/static/app.min.js", "/static/app.min.js"),
            ("//x", "//x"),
        ] {
            assert_eq!(template(target, false), expected, "{target}");
        }
    }

    #[test]
    fn a_cut_path_ends_at_a_segment() {
        assert_eq!(template("/users/12", true), "/users/…");
        assert_eq!(template("/users/", true), "/users/…");
        assert_eq!(template("/us", true), "/…");
        assert_eq!(template("/users/12?a=", true), "/users/{n}");
        assert_eq!(template("http://exam", true), "/…");
        let long = template(&"/segment".repeat(40), false);
        assert!(long.len() <= super::super::text::LIMIT && long.ends_with('…'), "{long}");
    }
}
