//! The parts of a line of text: words, what is in quotes or brackets, and pairs.

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Up to the next space.
    Word(&'a str),
    /// `"…"`.
    Quoted(&'a str),
    /// `[…]`.
    Bracketed(&'a str),
    /// `key=value` or `key="value"`.
    Pair(&'a str, &'a str),
    /// A quote or bracket that does not end.
    Unclosed(&'a str),
}

/// Splits a line.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) const fn of(line: &'a str) -> Self {
        Self { rest: line }
    }

    /// Takes up to the closing character, which is dropped.
    fn up_to(&mut self, close: char) -> Option<&'a str> {
        let (inside, rest) = self.rest.split_once(close)?;
        self.rest = rest;
        Some(inside)
    }

    fn enclosed(&mut self, close: char, token: fn(&'a str) -> Token<'a>) -> Token<'a> {
        match self.up_to(close) {
            Some(inside) => token(inside),
            None => Token::Unclosed(std::mem::take(&mut self.rest)),
        }
    }

    /// Takes up to the next space.
    fn word(&mut self) -> &'a str {
        let end = self.rest.find(' ').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Takes a value without quotes, which may be a list: `0.001, 0.002 : 0.003`.
    fn value(&mut self) -> &'a str {
        let all = self.rest;
        loop {
            let last = self.word();
            let goes_on = last.ends_with(',') && self.rest.starts_with(' ');
            if goes_on {
                self.rest = &self.rest[1..];
            } else if let Some(rest) = self.rest.strip_prefix(" : ") {
                self.rest = rest;
            } else {
                return &all[..all.len() - self.rest.len()];
            }
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.rest = self.rest.trim_start_matches(' ');
        if self.rest.is_empty() {
            return None;
        }
        if let Some(rest) = self.rest.strip_prefix('"') {
            self.rest = rest;
            return Some(self.enclosed('"', Token::Quoted));
        }
        if let Some(rest) = self.rest.strip_prefix('[') {
            self.rest = rest;
            return Some(self.enclosed(']', Token::Bracketed));
        }
        let Some((key, value)) = self.rest.split_once('=').filter(|(key, _)| is_key(key)) else {
            return Some(Token::Word(self.word()));
        };
        if let Some(value) = value.strip_prefix('"') {
            self.rest = value;
            return Some(match self.up_to('"') {
                Some(value) => Token::Pair(key, value),
                None => Token::Unclosed(std::mem::take(&mut self.rest)),
            });
        }
        self.rest = value;
        Some(Token::Pair(key, self.value()))
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::{Token::*, *};

    #[test]
    fn a_line_has_parts() {
        let line = r#"- [now] "GET / HTTP/1.1" 200  rt=0.001 urt=0.001, 0.002 : 0.003 us="200, 502" a=b"c x==y "open"#;
        assert_eq!(
            Tokens::of(line).collect::<Vec<_>>(),
            [
                Word("-"),
                Bracketed("now"),
                Quoted("GET / HTTP/1.1"),
                Word("200"),
                Pair("rt", "0.001"),
                Pair("urt", "0.001, 0.002 : 0.003"),
                Pair("us", "200, 502"),
                Pair("a", "b\"c"),
                Pair("x", "=y"),
                Unclosed("open"),
            ]
        );
        assert_eq!(Tokens::of("a=1, ").collect::<Vec<_>>(), [Pair("a", "1, ")]);
    }
}
