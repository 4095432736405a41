//! What kind of request it was, and what the answer means.

use observer_common::Protocol;

use crate::protocol::path_template;

/// The longest method that is believed: `UPDATEREDIRECTREF` (RFC 4437) is the longest registered one.
const LONGEST_METHOD: usize = 17;

/// A request's label is cut here.
const LONGEST_LABEL: usize = 80;

/// The class of a request: its method and the template of its path, without what varies. Nothing where it has no
/// method. `cut` says that the end of the target is missing.
pub(super) fn class(method: &str, target: &str, cut: bool) -> Option<String> {
    if !is_method(method) {
        return None;
    }
    let mut class = method.to_owned();
    if method != "CONNECT" {
        class.push(' ');
        path_template(target, cut, &mut class);
    }
    Some(class)
}

/// The class of a request line: `GET /items/17 HTTP/1.1`. Nothing where it is none.
pub(super) fn class_of_line(line: &str, cut: bool) -> Option<String> {
    let (method, rest) = line.split_once(' ')?;
    match rest.split_once(' ') {
        Some((target, _)) => class(method, target, false),
        None => class(method, rest, cut),
    }
}

/// The class that somebody gave a name: what looks like a path or an address in it becomes a template.
pub(super) fn class_of_label(label: &str) -> Option<String> {
    let mut class = String::new();
    for word in label.split_whitespace() {
        if !class.is_empty() {
            class.push(' ');
        }
        if word.starts_with('/') || word.contains("://") {
            path_template(word, false, &mut class);
        } else {
            // A query holds values, wherever it stands.
            class.push_str(word.split('?').next().unwrap_or_default());
        }
        if class.len() > LONGEST_LABEL {
            class.truncate(class.floor_char_boundary(LONGEST_LABEL));
            class.push('…');
            break;
        }
    }
    (!class.is_empty()).then_some(class)
}

/// A status code of HTTP and whether it is a failure, as the reader of HTTP/1 decides it. Nothing where it is no code.
pub(super) fn status(text: &str) -> Option<(String, bool)> {
    let code: u32 = text.parse().ok().filter(|code| text.len() == 3 && (100..1000).contains(code))?;
    Some((code.to_string(), Protocol::Http1.is_failure(code)))
}

fn is_method(method: &str) -> bool {
    (1..=LONGEST_METHOD).contains(&method.len())
        && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_no_values() {
        for (line, cut, expected) in [
            ("GET /users/42?token=x HTTP/1.1", false, Some("GET /users/{n}")),
            ("GET /users/42?token=x HT", true, Some("GET /users/{n}")),
            ("GET /users/4", true, Some("GET /users/…")),
            ("OPTIONS * HTTP/1.1", false, Some("OPTIONS *")),
            ("CONNECT a:443 HTTP/1.1", false, Some("CONNECT")),
            ("\\x16\\x03\\x01", false, None),
            ("<BADREQ>", false, None),
            ("-", false, None),
        ] {
            assert_eq!(class_of_line(line, cut).as_deref(), expected, "{line}");
        }
        for (label, expected) in [
            ("01 Log in", Some("01 Log in")),
            ("GET /users/42?token=x", Some("GET /users/{n}")),
            ("https://example.org/a/17.js?v=3", Some("/a/{n}.js")),
            ("search?q=secret", Some("search")),
            (" ", None),
        ] {
            assert_eq!(class_of_label(label).as_deref(), expected, "{label}");
        }
        assert_eq!(class_of_label(&"é".repeat(100)), Some("é".repeat(40) + "…"));
    }

    #[test]
    fn only_codes_are_a_status() {
        assert_eq!(status("200"), Some(("200".into(), false)));
        assert_eq!(status("503"), Some(("503".into(), true)));
        for no in ["", "-", "-1", "0", "+20", "20", "2000"] {
            assert_eq!(status(no), None, "{no}");
        }
    }
}
