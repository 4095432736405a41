//! Methods of HTTP, by the registry of RFC 9110, section 16.1.

use super::{Class, Repetition, found};

/// Methods that are registered as safe.
const SAFE: [&str; 9] = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH", "PRI"];

/// Methods that are registered as idempotent and not as safe.
const IDEMPOTENT: [&str; 25] = [
    "PUT",
    "DELETE",
    "ACL",
    "BASELINE-CONTROL",
    "BIND",
    "CHECKIN",
    "CHECKOUT",
    "COPY",
    "LABEL",
    "LINK",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MKREDIRECTREF",
    "MKWORKSPACE",
    "MOVE",
    "ORDERPATCH",
    "PROPPATCH",
    "REBIND",
    "UNBIND",
    "UNCHECKOUT",
    "UNLINK",
    "UNLOCK",
    "UPDATE",
];

/// Methods that are neither.
const WRITES: [&str; 4] = ["POST", "PATCH", "CONNECT", "LOCK"];

pub(super) fn repetition(class: &str) -> Repetition {
    let Class { name, rest, cut } = Class::read(class);
    let found = found(name, &SAFE, &IDEMPOTENT, &WRITES);
    // Behind requests that were sent together others may follow; a path that goes on changes nothing.
    if cut && rest.is_empty() { found.max(Repetition::Unknown) } else { found }
}

/// Whether a class is a method and a path.
pub(super) fn is_request_line(class: &str) -> bool {
    let Class { name, rest, .. } = Class::read(class);
    let known = SAFE.iter().chain(&IDEMPOTENT).chain(&WRITES);
    rest.starts_with('/') && known.into_iter().any(|method| *method == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_in_one_list() {
        let mut all: Vec<_> = SAFE.iter().chain(&IDEMPOTENT).chain(&WRITES).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn methods_decide() {
        let classes = |methods: &'static [&str]| {
            methods.iter().flat_map(|method| {
                [
                    format!("{method} /users/{{n}}"),
                    format!("{method} /users/alic…"),
                    format!("batch {method}"),
                ]
            })
        };
        for (methods, expected) in [
            (&SAFE[..], Repetition::Safe),
            (&IDEMPOTENT[..], Repetition::Idempotent),
            (&WRITES[..], Repetition::Write),
        ] {
            for class in classes(methods) {
                assert_eq!(repetition(&class), expected, "{class}");
            }
        }
    }

    #[test]
    fn what_may_go_on_with_another_method_is_not_safe() {
        assert_eq!(repetition("batch GET…"), Repetition::Unknown);
        assert_eq!(repetition("batch PUT…"), Repetition::Unknown);
        assert_eq!(repetition("batch POST…"), Repetition::Write);
        for class in ["get /x", "BREW /pot", "GETS /x"] {
            assert_eq!(repetition(class), Repetition::Unknown, "{class}");
        }
    }
}
