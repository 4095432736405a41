//! Statements of SQL, as PostgreSQL, MySQL and MariaDB speak it.
//!
//! A query may call a function that writes, and may lock rows. Where its text names a table and no lock, it is taken
//! for a read; a query without a table (`SELECT #5f3a0c11`) calls functions and nothing else, and is unknown.

use super::{Class, Repetition};

/// Statements and commands that only read.
const READS: [&str; 8] = ["SHOW", "DESC", "DESCRIBE", "HELP", "TABLE", "VALUES", "PING", "EMPTY"];

/// Statements and commands that change data, or mean something only on their own connection.
const WRITES: [&str; 58] = [
    "INSERT",
    "UPDATE",
    "DELETE",
    "MERGE",
    "REPLACE",
    "TRUNCATE",
    "CALL",
    "COPY",
    "LOCK",
    "UNLOCK",
    "BEGIN",
    "START",
    "COMMIT",
    "ROLLBACK",
    "END",
    "ABORT",
    "SAVEPOINT",
    "RELEASE",
    "SET",
    "RESET",
    "USE",
    "PREPARE",
    "DEALLOCATE",
    "DECLARE",
    "FETCH",
    "MOVE",
    "CLOSE",
    "LISTEN",
    "UNLISTEN",
    "NOTIFY",
    "DISCARD",
    "ALTER",
    "CREATE",
    "DROP",
    "GRANT",
    "REVOKE",
    "COMMENT",
    "CLUSTER",
    "REINDEX",
    "REFRESH",
    "VACUUM",
    "ANALYZE",
    "OPTIMIZE",
    "IMPORT",
    "LOAD",
    "RENAME",
    "REASSIGN",
    "SECURITY",
    "CHECKPOINT",
    "DO",
    "KILL",
    "FLUSH",
    "HANDLER",
    "SHUTDOWN",
    "LONG",
    "QUIT",
    "CHANGE",
    "REPLICATE",
];

pub(super) fn repetition(class: &str) -> Repetition {
    let read = Class::read(class);
    let name = read.name.to_ascii_uppercase();
    if WRITES.contains(&name.as_str()) {
        return Repetition::Write;
    }
    let reads = match name.as_str() {
        "SELECT" => names_a_table(read.rest, class.starts_with("batch ")) && !locks(read.rest),
        name => READS.contains(&name),
    };
    read.at_best(if reads { Repetition::Safe } else { Repetition::Unknown })
}

/// Several queries that were sent together do not say their tables.
fn names_a_table(rest: &str, batch: bool) -> bool {
    !batch && !rest.is_empty() && !rest.starts_with('#')
}

/// A class of somebody else's making may be the whole statement.
fn locks(rest: &str) -> bool {
    let rest = rest.to_ascii_uppercase();
    [" FOR UPDATE", " FOR SHARE", " FOR NO KEY UPDATE", " FOR KEY SHARE", " INTO ", "("]
        .iter()
        .any(|words| rest.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_is_in_one_list() {
        let mut all: Vec<_> = READS.iter().chain(&WRITES).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn statements_are_what_their_list_says() {
        for name in READS {
            assert_eq!(repetition(name), Repetition::Safe, "{name}");
            assert_eq!(repetition(&format!("{name}…")), Repetition::Unknown, "{name}");
        }
        for name in WRITES {
            for class in
                [name.to_owned(), format!("{name} accounts"), format!("{name}…"), format!("batch {name}")]
            {
                assert_eq!(repetition(&class), Repetition::Write, "{class}");
            }
        }
    }

    #[test]
    fn a_query_is_safe_where_it_names_a_table_and_no_lock() {
        for (class, expected) in [
            ("SELECT accounts", Repetition::Safe),
            ("select accounts", Repetition::Safe),
            ("SELECT events_{n}", Repetition::Safe),
            ("SELECT accounts…", Repetition::Unknown),
            ("SELECT #5f3a0c11", Repetition::Unknown),
            ("SELECT", Repetition::Unknown),
            ("batch SELECT", Repetition::Unknown),
            ("SELECT * FROM jobs FOR UPDATE SKIP LOCKED", Repetition::Unknown),
            ("SELECT * FROM jobs FOR SHARE", Repetition::Unknown),
            ("SELECT nextval('s') FROM jobs", Repetition::Unknown),
            ("WITH…", Repetition::Unknown),
            ("SQL…", Repetition::Unknown),
            ("SQL #5f3a0c11", Repetition::Unknown),
            ("EXECUTE", Repetition::Unknown),
            ("EXPLAIN", Repetition::Unknown),
            ("FIELD LIST", Repetition::Unknown),
        ] {
            assert_eq!(repetition(class), expected, "{class}");
        }
    }
}
