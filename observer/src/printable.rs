//! Text that others wrote, made safe to print: on a terminal, within one line, and not too long.
//!
//! Names of processes, services and columns can hold anything. What could move a cursor, change a line's direction
//! or begin another line is shown as what it is: `\u{1b}`. JSON and recordings keep the text as it came.

use std::borrow::Cow;

/// Characters of a foreign text that are quoted in a message.
const MOST_QUOTED: usize = 60;

/// The text on one line, with every character visible that would act on a terminal.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if acts(character) {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// The beginning of a text, for a message to quote.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_QUOTED) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Whether a terminal does something else with it than to show it: control characters of both sets, line and
/// paragraph separators, and what changes the direction of text (Unicode Standard Annex 9).
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_shown_as_what_it_is() {
        for (text, shown) in [
            ("\u{1b}]0;title\u{7}", r"\u{1b}]0;title\u{7}"),
            ("a\nLOST: 0\r\tb\u{7f}", r"a\u{a}LOST: 0\u{d}\u{9}b\u{7f}"),
            ("\u{9b}31m", r"\u{9b}31m"),
            ("\u{202e}gpj.exe\u{2066}\u{200f}", r"\u{202e}gpj.exe\u{2066}\u{200f}"),
            ("a\u{2028}b\u{2029}c", r"a\u{2028}b\u{2029}c"),
            ("größe ≥ 1 µs ▁▂ 日本 '\\n'", "größe ≥ 1 µs ▁▂ 日本 '\\n'"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = "é".repeat(61);
        assert_eq!(excerpt(&long), format!("{}…", "é".repeat(60)));
        assert_eq!(excerpt(&long[..120]), &long[..120]);
    }
}
