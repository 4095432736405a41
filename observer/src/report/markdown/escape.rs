//! Text that others wrote, made harmless in Markdown: it is shown as it is and does nothing.

use crate::printable::printable;

/// Keeps a name from notifying whoever is called like it, and from becoming a mail address. It is not seen.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// The text for the middle of a line: a cell, a heading, or what follows other words.
pub(super) fn inline(text: &str) -> String {
    let text = printable(text);
    let text = text.trim();
    let mut escaped = String::with_capacity(text.len() + 8);
    let mut before = None;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let after = rest.as_str().chars().next();
        if acts(before, character, after) || ends_www(&escaped, character) {
            escaped.push('\\');
        }
        escaped.push(character);
        if character == '@' {
            escaped.push(ZERO_WIDTH_SPACE);
        }
        before = Some(character);
    }
    escaped
}

/// The text for the beginning of a list's item, where it could begin another list or a rule.
pub(super) fn block(text: &str) -> String {
    let mut text = inline(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = text.as_bytes().get(digits + 1);
    let ends_number = after.is_none_or(|next| *next == b' ');
    match text.as_bytes().get(digits) {
        Some(b'.' | b')') if digits > 0 && ends_number => text.insert(digits, '\\'),
        Some(b'-' | b'+') if digits == 0 => text.insert(0, '\\'),
        _ => {}
    }
    text
}

/// Whether Markdown may take the character for more than itself. An underscore within a word is only that.
fn acts(before: Option<char>, character: char, after: Option<char>) -> bool {
    match character {
        '\\' | '`' | '*' | '[' | '|' | '~' | '#' | '&' | '$' | '>' => true,
        '<' => after != Some(' '),
        '_' => ![before, after].into_iter().all(|beside| beside.is_some_and(char::is_alphanumeric)),
        ':' => after == Some('/'),
        _ => false,
    }
}

/// Whether what follows `www` would become a link.
fn ends_www(escaped: &str, character: char) -> bool {
    let end = escaped.len().checked_sub(3).and_then(|start| escaped.get(start..));
    character == '.' && end.is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_markdown_would_interpret_is_shown_as_it_is() {
        for (text, escaped) in [
            ("127.0.0.11:8080", "127.0.0.11:8080"),
            ("[2001:db8::1]:443", r"\[2001:db8::1]:443"),
            ("GET /a|b", r"GET /a\|b"),
            (r"a\|b", r"a\\\|b"),
            ("`*_x_*`", r"\`\*\_x\_\*\`"),
            ("co_exceedance", "co_exceedance"),
            ("a__b", r"a\_\_b"),
            ("<b>&lt;</b>", r"\<b\>\&lt;\</b\>"),
            ("< 1 ms", "< 1 ms"),
            ("# x #", r"\# x \#"),
            ("  x\n<", r"x\\u{a}\<"),
            ("https://x.example www.x.example", r"https\://x.example www\.x.example"),
            ("@team", "@\u{200b}team"),
            ("", ""),
        ] {
            assert_eq!(inline(text), escaped, "{text}");
        }
    }

    #[test]
    fn an_item_begins_no_other_list() {
        for (text, escaped) in [
            ("1. x", r"1\. x"),
            ("23) x", r"23\) x"),
            ("4.", r"4\."),
            ("- x", r"\- x"),
            ("---", r"\---"),
            ("+ x", r"\+ x"),
            ("127.0.0.11:8080 x", "127.0.0.11:8080 x"),
            ("10 % of x", "10 % of x"),
        ] {
            assert_eq!(block(text), escaped, "{text}");
        }
    }
}
