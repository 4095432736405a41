//! Classes that somebody else found, bounded like those of messages.

use super::vocabulary::Vocabulary;

/// A bounded set of classes.
#[derive(Debug)]
pub struct Classes(Vocabulary);

impl Default for Classes {
    fn default() -> Self {
        Self(Vocabulary::new())
    }
}

impl Classes {
    /// The class, or `other` where there are too many already.
    pub fn bounded(&mut self, class: &str) -> &str {
        let word = self.0.word(class);
        self.0.text(word)
    }
}
