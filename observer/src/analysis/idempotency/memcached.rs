//! Commands of memcached, by its protocol (`doc/protocol.txt`).
//!
//! `ms` and `md` do what their flags say, which a class does not show: they are unknown.

use super::{Class, Repetition, found};

/// Commands of memcached that only read.
const READS: [&str; 7] = ["get", "gets", "mg", "stats", "version", "mn", "me"];

/// Commands of memcached that write the same again.
const IDEMPOTENT: [&str; 7] = ["set", "delete", "touch", "gat", "gats", "replace", "flush_all"];

/// Commands of memcached that do not: they count, append, or depend on what is there.
const WRITES: [&str; 11] =
    ["add", "append", "prepend", "cas", "incr", "decr", "ma", "slabs", "lru_crawler", "verbosity", "watch"];

pub(super) fn repetition(class: &str) -> Repetition {
    let class = Class::read(class);
    class.at_best(found(class.name, &READS, &IDEMPOTENT, &WRITES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_what_their_list_says() {
        super::super::tests::assert_lists(repetition, [&READS, &IDEMPOTENT, &WRITES]);
    }

    #[test]
    fn the_best_known_commands_are_as_everybody_knows_them() {
        for (class, expected) in [
            ("get", Repetition::Safe),
            ("set", Repetition::Idempotent),
            ("incr", Repetition::Write),
            ("batch cas", Repetition::Write),
            ("ms", Repetition::Unknown),
        ] {
            assert_eq!(repetition(class), expected, "{class}");
        }
    }
}
