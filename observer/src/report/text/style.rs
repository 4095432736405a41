//! Colour, in one place. Every coloured thing also says in words what it is. What is coloured is made printable.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

use crate::printable::printable;

/// Whether colour is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Terminal escape sequences may be used.
    Ansi,
    /// Plain text only.
    Plain,
}

impl Color {
    /// What a section is about.
    pub(crate) fn heading(self, text: impl Display) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// What nobody may overlook.
    pub(crate) fn warning(self, text: impl Display) -> String {
        self.paint(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// What explains the rest.
    pub(crate) fn faint(self, text: impl Display) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// What is neither.
    pub(crate) fn plain(self, text: impl Display) -> String {
        self.paint(Style::new(), text)
    }

    fn paint(self, style: Style, text: impl Display) -> String {
        let text = text.to_string();
        match self {
            Self::Ansi => format!("{style}{}{style:#}", printable(&text)),
            Self::Plain => printable(&text).into_owned(),
        }
    }
}
