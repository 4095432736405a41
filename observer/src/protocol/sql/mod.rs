//! SQL: verb and main table, or a hash of the statement without its literals.

mod statement;
mod token;

use self::{
    statement::{Statement, Table},
    token::{Token, Tokens},
};
use super::{
    batch,
    hash::Hash,
    numerals,
    text::{Case, Text},
};

/// Whose SQL it is: they differ in comments and in quoting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `$tag$` strings, `"` around names.
    PostgreSql,
    /// `#` comments, backslashes in strings, `` ` `` around names.
    MySql,
}

/// How much of the text there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Whether the text goes on beyond what was kept.
    pub(super) cut: bool,
    /// Whether the protocol allows no second statement.
    pub(super) sole: bool,
}

/// Whether a text begins with a verb of SQL.
pub(super) fn is_sql(text: &[u8], dialect: Dialect) -> bool {
    statement::verb(&mut Tokens::new(text, dialect, false)).is_some()
}

/// Whether a class is that of a text that was cut before its verb.
pub(super) fn hides_verb(class: &str) -> bool {
    class == "SQL…" || class == "WITH…"
}

/// Writes the class of a text: `SELECT accounts`, `COMMIT`, `SELECT #5f3a0c11`, `batch INSERT`.
pub(super) fn write_class(text: &[u8], dialect: Dialect, extent: Extent, class: &mut Text) {
    let mut tokens = Tokens::new(text, dialect, extent.cut);
    let Some(first) = statement::read(&mut tokens) else {
        write_unknown(text, dialect, extent, class);
        return;
    };
    let mut cut = extent.cut && first.table == Table::Unseen;
    if !extent.sole {
        let (mut several, mut same) = (false, true);
        while tokens.has_separator() && statement::skip(&mut tokens) {
            several = true;
            same &= statement::verb(&mut tokens) == Some(first.verb);
        }
        // What follows the last statement that was seen may be another, or the rest of it.
        cut |= extent.cut;
        if several {
            batch::write(class, same.then_some(first.verb.as_bytes()), Case::Kept, cut);
            return;
        }
    }
    write_statement(&first, text, dialect, cut, class);
}

fn write_statement(statement: &Statement<'_>, text: &[u8], dialect: Dialect, cut: bool, class: &mut Text) {
    class.push(statement.verb);
    match statement.table {
        Table::Named(name) => {
            class.push_byte(b' ');
            numerals::write(class, name, Case::Lower);
        }
        Table::Unseen if !cut => {
            class.push(" #");
            class.push_hexadecimal(shape(text, dialect));
        }
        Table::Unseen | Table::Needless => {}
    }
    if cut {
        class.cut();
    }
}

/// Writes the class of a text whose verb is not known.
fn write_unknown(text: &[u8], dialect: Dialect, extent: Extent, class: &mut Text) {
    if extent.cut {
        class.push("SQL");
        class.cut();
    } else if Tokens::new(text, dialect, false).all(|token| token == Token::Symbol(b';')) {
        class.push("EMPTY");
    } else {
        class.push("SQL #");
        class.push_hexadecimal(shape(text, dialect));
    }
}

/// A hash of the text's shape: words in lower case, one mark for each literal, parameter, or list of them.
fn shape(text: &[u8], dialect: Dialect) -> u32 {
    let mut hash = Hash::new();
    let mut after_value = false;
    for token in Tokens::new(text, dialect, false) {
        match token {
            Token::Value => {
                if !after_value {
                    hash.add(b'?');
                }
                after_value = true;
            }
            Token::Symbol(b',') if after_value => {}
            Token::Symbol(b';') => {}
            Token::Symbol(symbol) => {
                hash.add(symbol);
                after_value = false;
            }
            Token::Word(word) | Token::Name(word) => {
                hash.add(b' ');
                for byte in word {
                    hash.add(byte.to_ascii_lowercase());
                }
                after_value = false;
            }
        }
    }
    hash.short()
}

#[cfg(test)]
mod tests;
