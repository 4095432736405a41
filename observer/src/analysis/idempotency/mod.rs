//! Whether a request may be sent twice, by its protocol and class.
//!
//! Only what is certain counts as safe. A class that goes on beyond what was kept (`…`), or that stands for several
//! different commands, may hide a write.

mod memcached;
mod methods;
mod redis;
mod statements;

/// What happens if a request is sent twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repetition {
    /// Nothing: it only reads.
    Safe,
    /// It writes, and writes the same again. A late copy may still undo what somebody else wrote in between.
    Idempotent,
    /// That cannot be told.
    Unknown,
    /// It does something twice, or means something only on its own connection.
    Write,
}

/// What happens if a request of this class is sent twice. A table may name the class and leave the protocol open.
pub fn of(protocol: Option<&str>, class: Option<&str>) -> Repetition {
    let Some(class) = class else { return Repetition::Unknown };
    match protocol {
        Some("http1" | "http2" | "http") => methods::repetition(class),
        Some("redis") => redis::repetition(class),
        Some("memcached") => memcached::repetition(class),
        Some("postgresql" | "mysql") => statements::repetition(class),
        // A request line says what it is.
        None if methods::is_request_line(class) => methods::repetition(class),
        // Every call of gRPC is a POST, and its name promises nothing. What is encrypted says nothing at all.
        _ => Repetition::Unknown,
    }
}

/// A class as it is written: one kind of request or several of one kind, and whether it was kept whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class<'a> {
    /// Its first word.
    name: &'a str,
    /// What follows.
    rest: &'a str,
    /// Whether it may go on with something else.
    cut: bool,
}

impl<'a> Class<'a> {
    fn read(class: &'a str) -> Self {
        let whole = class.strip_suffix('…');
        let text = whole.unwrap_or(class);
        let text = text.strip_prefix("batch ").unwrap_or(text);
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        Self { name, rest, cut: whole.is_some() }
    }

    /// What holds for the part that was kept, or less where there may be more of it.
    fn at_best(self, repetition: Repetition) -> Repetition {
        if self.cut { repetition.max(Repetition::Unknown) } else { repetition }
    }
}

/// What holds for a name, by the list that it is in.
fn found(name: &str, reads: &[&str], idempotent: &[&str], writes: &[&str]) -> Repetition {
    if reads.contains(&name) {
        Repetition::Safe
    } else if idempotent.contains(&name) {
        Repetition::Idempotent
    } else if writes.contains(&name) {
        Repetition::Write
    } else {
        Repetition::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails unless each command, alone and in batches, is what the one list says that it is in: reads, idempotent
    /// writes, other writes.
    pub(super) fn assert_lists(repetition: fn(&str) -> Repetition, lists: [&[&str]; 3]) {
        let mut all = lists.concat();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "a command is in two lists");
        let meanings = [Repetition::Safe, Repetition::Idempotent, Repetition::Write];
        for (names, expected) in lists.into_iter().zip(meanings) {
            for name in names {
                assert_eq!(repetition(name), expected, "{name}");
                assert_eq!(repetition(&format!("batch {name}")), expected, "{name}");
                let at_best = expected.max(Repetition::Unknown);
                assert_eq!(repetition(&format!("batch {name}…")), at_best, "{name}");
            }
        }
    }

    #[test]
    fn what_is_not_known_is_unknown() {
        for (protocol, class) in [
            (Some("http1"), None),
            (None, None),
            (None, Some("checkout")),
            (None, Some("get users")),
            (Some("tls"), Some("64B→1KiB")),
            (None, Some("64B→1KiB")),
            (Some("grpc"), Some("/shop.Cart/Get")),
            (Some("upgraded"), Some("8B→8B")),
        ] {
            assert_eq!(of(protocol, class), Repetition::Unknown, "{protocol:?} {class:?}");
        }
    }

    #[test]
    fn the_rest_of_a_protocols_classes_is_unknown() {
        for protocol in ["http1", "http2", "redis", "memcached", "postgresql", "mysql"] {
            for class in ["other", "batch", "batch…", ""] {
                assert_eq!(of(Some(protocol), Some(class)), Repetition::Unknown, "{protocol} {class}");
            }
        }
    }

    #[test]
    fn a_request_line_needs_no_protocol() {
        assert_eq!(of(None, Some("GET /users/{n}")), Repetition::Safe);
        assert_eq!(of(None, Some("POST /users")), Repetition::Write);
        assert_eq!(of(None, Some("GET")), Repetition::Unknown);
    }
}
