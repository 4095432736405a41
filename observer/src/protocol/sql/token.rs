//! The words of SQL, without comments and without what literals hold.

use super::Dialect;

/// A word of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A keyword or a name.
    Word(&'a [u8]),
    /// A name in quotes.
    Name(&'a [u8]),
    /// A literal or a parameter.
    Value,
    /// Anything else, byte by byte.
    Symbol(u8),
}

/// Reads a text token by token. A token that touches the end of a text that goes on is not given: it may be the
/// beginning of another.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    position: usize,
    dialect: Dialect,
    /// Whether the text goes on beyond what was kept.
    cut: bool,
}

impl<'a> Tokens<'a> {
    pub(super) const fn new(text: &'a [u8], dialect: Dialect, cut: bool) -> Self {
        Self { text, position: 0, dialect, cut }
    }

    /// Whether the text goes on beyond what was kept.
    pub(super) const fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether there may be a further statement: a semicolon before the end, in a literal or not.
    pub(super) fn has_separator(&self) -> bool {
        let rest = self.text.get(self.position..).unwrap_or_default().trim_ascii_end();
        rest.strip_suffix(b";").unwrap_or(rest).contains(&b';')
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.position + ahead).copied()
    }

    /// Moves to behind the next `byte`.
    fn pass(&mut self, byte: u8) {
        while let Some(next) = self.peek(0) {
            self.position += 1;
            if next == byte {
                return;
            }
        }
    }

    /// Moves to behind the next `end`.
    fn pass_sequence(&mut self, end: &[u8]) {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|window| window == end);
        self.position = found.map_or(self.text.len(), |found| self.position + found + end.len());
    }

    /// Moves over white space and comments.
    fn skip_space(&mut self) {
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'-', Some(b'-')) => self.pass(b'\n'),
                (b'#', _) if self.dialect == Dialect::MySql => self.pass(b'\n'),
                (b'/', Some(b'*')) => {
                    self.position += 2;
                    self.pass_sequence(b"*/");
                }
                (b'\0', _) => self.position += 1,
                _ if byte.is_ascii_whitespace() => self.position += 1,
                _ => return,
            }
        }
    }

    /// Moves to behind a string whose opening quote was passed; a doubled quote is one within it.
    fn pass_string(&mut self, quote: u8, backslashes: bool) {
        while let Some(byte) = self.peek(0) {
            self.position += 1;
            if byte == b'\\' && backslashes {
                self.position += 1;
            } else if byte == quote {
                if self.peek(0) != Some(quote) {
                    return;
                }
                self.position += 1;
            }
        }
        self.position = self.text.len();
    }

    fn word(&mut self) -> Token<'a> {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let end = rest.iter().position(|&byte| !is_word_byte(byte)).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        self.position += end;
        // E'…', B'…', X'…', N'…': a prefix of the string.
        if let ([prefix], Some(b'\'')) = (word, self.peek(0))
            && prefix.is_ascii_alphabetic()
        {
            self.position += 1;
            let escapes = prefix.eq_ignore_ascii_case(&b'e') || self.dialect == Dialect::MySql;
            self.pass_string(b'\'', escapes);
            return Token::Value;
        }
        Token::Word(word)
    }

    /// A name in quotes that closes with `quote`.
    fn name(&mut self, quote: u8) -> Token<'a> {
        self.position += 1;
        let start = self.position;
        self.pass_string(quote, false);
        let end = if self.text.get(self.position.wrapping_sub(1)) == Some(&quote) && self.position > start {
            self.position - 1
        } else {
            self.position
        };
        Token::Name(self.text.get(start..end).unwrap_or_default())
    }

    /// `$1`, or a string between two `$tag$`.
    fn dollar(&mut self) -> Token<'a> {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let tag = rest.iter().skip(1).take_while(|&&byte| is_word_byte(byte) && byte != b'$').count();
        let numbered = rest.get(1).is_some_and(u8::is_ascii_digit);
        self.position += 1 + tag;
        if !numbered && rest.get(1 + tag) == Some(&b'$') {
            self.position += 1;
            self.pass_sequence(rest.get(..tag + 2).unwrap_or_default());
        }
        Token::Value
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_space();
        let byte = self.peek(0)?;
        let token = match byte {
            b'\'' => {
                self.position += 1;
                self.pass_string(byte, self.dialect == Dialect::MySql);
                Token::Value
            }
            b'"' if self.dialect == Dialect::PostgreSql => self.name(byte),
            b'"' => {
                // A literal, unless the server was told otherwise: then it is taken for one all the same.
                self.position += 1;
                self.pass_string(byte, true);
                Token::Value
            }
            b'`' => self.name(byte),
            b'$' if self.dialect == Dialect::PostgreSql => self.dollar(),
            b'?' => {
                self.position += 1;
                Token::Value
            }
            b'0'..=b'9' => {
                while self.peek(0).is_some_and(|byte| is_word_byte(byte) || byte == b'.') {
                    self.position += 1;
                }
                Token::Value
            }
            _ if is_word_byte(byte) => self.word(),
            _ => {
                self.position += 1;
                Token::Symbol(byte)
            }
        };
        (!self.cut || self.position < self.text.len()).then_some(token)
    }
}

/// What words are made of; a byte beyond ASCII is part of a letter.
const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
