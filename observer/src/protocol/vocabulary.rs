//! The classes of a protocol, each kept once, and no more of them than a reader of a report can tell apart.

use crate::maps::HashMap;

/// How many classes a protocol has before the rest is one.
pub(super) const LIMIT: usize = 200;

/// Stands for every class that came after the table was full.
const OTHER: &str = "other";

/// A text of a [`Vocabulary`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Word(u16);

/// Texts, each kept once, up to a limit.
#[derive(Debug)]
pub(super) struct Vocabulary {
    words: HashMap<Box<str>, Word>,
    texts: Vec<Box<str>>,
}

impl Vocabulary {
    pub(super) fn new() -> Self {
        let mut vocabulary = Self { words: HashMap::default(), texts: Vec::new() };
        vocabulary.add(OTHER);
        vocabulary
    }

    /// The word for `text`, which is kept if it is new and there is room. Allocates only then.
    pub(super) fn word(&mut self, text: &str) -> Word {
        match self.words.get(text) {
            Some(&word) => word,
            None if self.texts.len() > LIMIT => Word(0),
            None => self.add(text),
        }
    }

    /// The text of a word of this table.
    pub(super) fn text(&self, word: Word) -> &str {
        self.texts.get(usize::from(word.0)).map_or(OTHER, |text| text)
    }

    fn add(&mut self, text: &str) -> Word {
        // The limit is far below what the number can hold.
        let word = Word(u16::try_from(self.texts.len()).unwrap_or_default());
        self.texts.push(text.into());
        self.words.insert(text.into(), word);
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_limit_everything_is_other() {
        let mut vocabulary = Vocabulary::new();
        for number in 0..10_000 {
            let text = format!("GET /{number}");
            let word = vocabulary.word(&text);
            let expected = if number < LIMIT { text.as_str() } else { "other" };
            assert_eq!(vocabulary.text(word), expected);
        }
        assert_eq!(vocabulary.texts.len(), LIMIT + 1);
        let first = vocabulary.word("GET /0");
        assert_eq!(vocabulary.text(first), "GET /0", "what is known stays known");
    }
}
