//! One statement: its verb, and the table that it is about.

use super::token::{Token, Tokens};

/// Where a statement of some verb names its main table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Behind FROM.
    From,
    /// First, behind INTO, TABLE and modifiers.
    First,
    /// It has none that matters.
    Nowhere,
    /// Behind common table expressions another verb comes.
    Later,
}

/// The verbs that are known, and where their tables are.
const VERBS: [(&str, Place); 66] = [
    ("SELECT", Place::From),
    ("INSERT", Place::First),
    ("UPDATE", Place::First),
    ("DELETE", Place::From),
    ("WITH", Place::Later),
    ("BEGIN", Place::Nowhere),
    ("COMMIT", Place::Nowhere),
    ("ROLLBACK", Place::Nowhere),
    ("END", Place::Nowhere),
    ("SET", Place::Nowhere),
    ("SHOW", Place::Nowhere),
    ("START", Place::Nowhere),
    ("MERGE", Place::First),
    ("REPLACE", Place::First),
    ("TRUNCATE", Place::First),
    ("CALL", Place::First),
    ("COPY", Place::First),
    ("TABLE", Place::First),
    ("LOCK", Place::First),
    ("ANALYZE", Place::Nowhere),
    ("ABORT", Place::Nowhere),
    ("ALTER", Place::Nowhere),
    ("BASE_BACKUP", Place::Nowhere),
    ("CHECKPOINT", Place::Nowhere),
    ("CLOSE", Place::Nowhere),
    ("CLUSTER", Place::Nowhere),
    ("COMMENT", Place::Nowhere),
    ("CREATE", Place::Nowhere),
    ("DEALLOCATE", Place::Nowhere),
    ("DECLARE", Place::Nowhere),
    ("DESC", Place::Nowhere),
    ("DESCRIBE", Place::Nowhere),
    ("DISCARD", Place::Nowhere),
    ("DO", Place::Nowhere),
    ("DROP", Place::Nowhere),
    ("EXECUTE", Place::Nowhere),
    ("EXPLAIN", Place::Nowhere),
    ("FETCH", Place::Nowhere),
    ("FLUSH", Place::Nowhere),
    ("GRANT", Place::Nowhere),
    ("HANDLER", Place::Nowhere),
    ("HELP", Place::Nowhere),
    ("IDENTIFY_SYSTEM", Place::Nowhere),
    ("IMPORT", Place::Nowhere),
    ("KILL", Place::Nowhere),
    ("LISTEN", Place::Nowhere),
    ("LOAD", Place::Nowhere),
    ("MOVE", Place::Nowhere),
    ("NOTIFY", Place::Nowhere),
    ("OPTIMIZE", Place::Nowhere),
    ("PREPARE", Place::Nowhere),
    ("REASSIGN", Place::Nowhere),
    ("REFRESH", Place::Nowhere),
    ("REINDEX", Place::Nowhere),
    ("RELEASE", Place::Nowhere),
    ("RENAME", Place::Nowhere),
    ("RESET", Place::Nowhere),
    ("REVOKE", Place::Nowhere),
    ("SAVEPOINT", Place::Nowhere),
    ("SECURITY", Place::Nowhere),
    ("START_REPLICATION", Place::Nowhere),
    ("UNLISTEN", Place::Nowhere),
    ("UNLOCK", Place::Nowhere),
    ("USE", Place::Nowhere),
    ("VACUUM", Place::Nowhere),
    ("VALUES", Place::Nowhere),
];

/// The verbs that common table expressions may precede.
const AFTER_WITH: [&str; 6] = ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"];

/// Words between a verb and its table.
const MODIFIERS: [&str; 11] = [
    "INTO",
    "ONLY",
    "TABLE",
    "TABLES",
    "IGNORE",
    "LOW_PRIORITY",
    "HIGH_PRIORITY",
    "DELAYED",
    "QUICK",
    "OVERWRITE",
    "LATERAL",
];

/// The table that a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table<'a> {
    /// Its name, without its schema.
    Named(&'a [u8]),
    /// None was found.
    Unseen,
    /// The verb says enough.
    Needless,
}

/// One statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statement<'a> {
    pub(super) verb: &'static str,
    pub(super) table: Table<'a>,
}

/// Reads the verb of a statement; nothing where it is not known.
pub(super) fn verb(tokens: &mut Tokens<'_>) -> Option<&'static str> {
    verb_and_place(tokens).map(|found| found.0)
}

/// Reads a statement up to its table; nothing where its verb is not known.
pub(super) fn read<'a>(tokens: &mut Tokens<'a>) -> Option<Statement<'a>> {
    let (mut verb, mut place) = verb_and_place(tokens)?;
    if place == Place::Later {
        match main_verb(tokens) {
            Some(found) => (verb, place) = found,
            None => return Some(Statement { verb, table: Table::Unseen }),
        }
    }
    let table = match place {
        Place::Nowhere => Table::Needless,
        Place::From => from(tokens).map_or(Table::Unseen, Table::Named),
        Place::First | Place::Later => name(tokens).map_or(Table::Unseen, Table::Named),
    };
    Some(Statement { verb, table })
}

/// Moves to the next statement; whether there is one.
pub(super) fn skip(tokens: &mut Tokens<'_>) -> bool {
    let mut ended = false;
    loop {
        let before = tokens.clone();
        match tokens.next() {
            None => return false,
            Some(Token::Symbol(b';')) => ended = true,
            Some(_) if ended => {
                *tokens = before;
                return true;
            }
            Some(_) => {}
        }
    }
}

fn verb_and_place(tokens: &mut Tokens<'_>) -> Option<(&'static str, Place)> {
    loop {
        match tokens.next()? {
            Token::Symbol(b'(') => {}
            Token::Word(word) => return known(word),
            _ => return None,
        }
    }
}

fn known(word: &[u8]) -> Option<(&'static str, Place)> {
    VERBS.into_iter().find(|(verb, _)| is(word, verb))
}

fn is(word: &[u8], wanted: &str) -> bool {
    word.eq_ignore_ascii_case(wanted.as_bytes())
}

/// The next token of this statement: its end stays where it is.
fn within<'a>(tokens: &mut Tokens<'a>) -> Option<Token<'a>> {
    let mut ahead = tokens.clone();
    let token = ahead.next().filter(|token| *token != Token::Symbol(b';'))?;
    *tokens = ahead;
    Some(token)
}

/// Finds the verb behind common table expressions: outside of all parentheses.
fn main_verb(tokens: &mut Tokens<'_>) -> Option<(&'static str, Place)> {
    let mut depth = 0_usize;
    let mut expressions = 0_usize;
    loop {
        match within(tokens)? {
            Token::Symbol(b'(') => depth += 1,
            Token::Symbol(b')') => {
                depth = depth.saturating_sub(1);
                expressions += 1;
            }
            Token::Word(word)
                if depth == 0 && expressions > 0 && AFTER_WITH.iter().any(|verb| is(word, verb)) =>
            {
                return known(word);
            }
            _ => {}
        }
    }
}

/// Finds the name behind the statement's own FROM, or behind that of the query that stands there.
fn from<'a>(tokens: &mut Tokens<'a>) -> Option<&'a [u8]> {
    let (mut depth, mut wanted) = (0_usize, 0_usize);
    loop {
        match within(tokens)? {
            Token::Symbol(b'(') => depth += 1,
            Token::Symbol(b')') => {
                depth = depth.saturating_sub(1);
                wanted = wanted.min(depth);
            }
            Token::Word(word) if depth == wanted && is(word, "FROM") => {
                let mut ahead = tokens.clone();
                loop {
                    match ahead.next()? {
                        Token::Symbol(b'(') => {
                            depth += 1;
                            wanted = depth;
                            *tokens = ahead.clone();
                        }
                        Token::Word(word) if MODIFIERS.iter().any(|modifier| is(word, modifier)) => {
                            *tokens = ahead.clone();
                        }
                        Token::Word(word) if is(word, "SELECT") || is(word, "WITH") || is(word, "VALUES") => {
                            break;
                        }
                        _ => return name(tokens),
                    }
                }
            }
            _ => {}
        }
    }
}

/// Reads a name, modifiers before it and its schema passed over; nothing where it may go on beyond the text, or
/// where it is not made of plain characters.
fn name<'a>(tokens: &mut Tokens<'a>) -> Option<&'a [u8]> {
    loop {
        let name = match within(tokens)? {
            Token::Word(word) if MODIFIERS.iter().any(|modifier| is(word, modifier)) => continue,
            Token::Word(name) | Token::Name(name) => name,
            Token::Value | Token::Symbol(_) => return None,
        };
        let mut ahead = tokens.clone();
        match ahead.next() {
            Some(Token::Symbol(b'.')) => *tokens = ahead,
            None if tokens.is_cut() => return None,
            _ => return name.iter().all(|&byte| is_plain(byte)).then_some(name),
        }
    }
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}
