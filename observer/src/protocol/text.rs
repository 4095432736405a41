//! A short text that is written anew for every turn, in the same memory.

/// How many bytes a class or a status has at most.
pub(super) const LIMIT: usize = 80;

/// Says that a text goes on.
const ELLIPSIS: &str = "…";

/// How ASCII letters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    /// As they came.
    Kept,
    /// In upper case.
    Upper,
    /// In lower case.
    Lower,
}

/// A text of at most [`LIMIT`] bytes.
#[derive(Debug)]
pub(super) struct Text {
    bytes: [u8; LIMIT],
    length: usize,
    cut: bool,
}

impl Text {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; LIMIT], length: 0, cut: false }
    }

    pub(super) const fn clear(&mut self) {
        self.length = 0;
        self.cut = false;
    }

    pub(super) fn as_str(&self) -> &str {
        // Only whole characters are ever added.
        self.bytes.get(..self.length).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether it says of itself that it goes on.
    pub(super) const fn is_cut(&self) -> bool {
        self.cut
    }

    /// How many more bytes fit, the mark of a cut kept free.
    const fn room(&self) -> usize {
        (LIMIT - ELLIPSIS.len()).saturating_sub(self.length)
    }

    /// Adds `text`; what does not fit is replaced by the mark of a cut.
    pub(super) fn push(&mut self, text: &str) {
        if self.cut {
            return;
        }
        if let Some(text) = text.strip_suffix(ELLIPSIS) {
            // A text that carries the mark says so of the whole.
            self.push(text);
            self.cut();
            return;
        }
        let end = text.floor_char_boundary(self.room());
        self.append(text.as_bytes().get(..end).unwrap_or_default());
        if end < text.len() {
            self.cut();
        }
    }

    /// Adds the printable ASCII characters among `bytes`.
    pub(super) fn push_ascii(&mut self, bytes: &[u8]) {
        self.push_cased(bytes, Case::Kept);
    }

    /// Adds the printable ASCII characters among `bytes`, in some case.
    pub(super) fn push_cased(&mut self, bytes: &[u8], case: Case) {
        if self.cut {
            return;
        }
        let start = self.length;
        if bytes.len() <= self.room() && bytes.iter().all(|&byte| is_printable(byte)) {
            self.append(bytes);
        } else {
            for &byte in bytes {
                self.push_byte(byte);
            }
        }
        let added = self.bytes.get_mut(start..self.length).unwrap_or_default();
        match case {
            Case::Kept => {}
            Case::Upper => added.make_ascii_uppercase(),
            Case::Lower => added.make_ascii_lowercase(),
        }
    }

    /// Adds one printable ASCII character.
    pub(super) fn push_byte(&mut self, byte: u8) {
        if self.cut || !is_printable(byte) {
            return;
        }
        if self.room() == 0 {
            self.cut();
        } else {
            self.append(&[byte]);
        }
    }

    /// Adds bytes that fit.
    fn append(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
            self.length = end;
        }
    }

    /// Adds a number in decimal digits.
    pub(super) fn push_number(&mut self, number: u64) {
        let mut digits = [0; 20];
        let mut start = digits.len();
        let mut rest = number;
        for (index, digit) in digits.iter_mut().enumerate().rev() {
            // The remainder is below ten.
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
            start = index;
            if rest == 0 {
                break;
            }
        }
        self.push_ascii(digits.get(start..).unwrap_or_default());
    }

    /// Adds the lowest 32 bits of a number in hexadecimal digits.
    pub(super) fn push_hexadecimal(&mut self, number: u32) {
        for shift in (0..8).rev() {
            let digit = (number >> (shift * 4)) & 0xf;
            self.push_byte(char::from_digit(digit, 16).map_or(b'0', |digit| digit as u8));
        }
    }

    /// Marks it as going on.
    pub(super) fn cut(&mut self) {
        if !self.cut {
            self.append(ELLIPSIS.as_bytes());
            self.cut = true;
        }
    }
}

/// Whether a byte is a printable ASCII character.
const fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_marked() {
        let mut text = Text::new();
        for _ in 0..100 {
            text.push("ä");
        }
        assert_eq!(text.as_str(), "ä".repeat(38) + "…");
        text.clear();
        text.push_ascii(&[b'x'; 77]);
        assert_eq!((text.as_str().len(), text.is_cut()), (77, false));
        text.push_cased(b"x", Case::Upper);
        assert_eq!(text.as_str(), "x".repeat(77) + "…");
        text.push("more");
        assert_eq!(text.as_str().len(), LIMIT);
    }

    #[test]
    fn a_mark_that_is_added_marks_the_whole() {
        let mut text = Text::new();
        text.push("SELECT…");
        text.cut();
        text.push_number(7);
        assert_eq!(text.as_str(), "SELECT…");
    }

    #[test]
    fn only_printable_characters_are_added() {
        let mut text = Text::new();
        text.push_cased(b"a\0\x1b[b\xff", Case::Upper);
        text.push_number(u64::MAX);
        text.push_hexadecimal(0x1f);
        assert_eq!(text.as_str(), "A[B184467440737095516150000001f");
    }
}
