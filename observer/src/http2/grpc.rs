//! What gRPC says in header and trailer fields (gRPC over HTTP/2, and `grpc/status.h`).

/// Every status code by its number, as reports print it.
static STATUSES: [&str; 17] = [
    "0 OK",
    "1 CANCELLED",
    "2 UNKNOWN",
    "3 INVALID_ARGUMENT",
    "4 DEADLINE_EXCEEDED",
    "5 NOT_FOUND",
    "6 ALREADY_EXISTS",
    "7 PERMISSION_DENIED",
    "8 RESOURCE_EXHAUSTED",
    "9 FAILED_PRECONDITION",
    "10 ABORTED",
    "11 OUT_OF_RANGE",
    "12 UNIMPLEMENTED",
    "13 INTERNAL",
    "14 UNAVAILABLE",
    "15 DATA_LOSS",
    "16 UNAUTHENTICATED",
];

/// What a call ended with: `grpc-status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(u8);

impl Status {
    /// The value of a `grpc-status` field. What is no known code is UNKNOWN, as clients take it.
    pub(super) fn parse(value: &[u8]) -> Self {
        let code = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
        Self::of(code.unwrap_or(u16::MAX))
    }

    /// The status of a code, as above.
    pub(crate) fn of(code: u16) -> Self {
        Self(u8::try_from(code).ok().filter(|&code| usize::from(code) < STATUSES.len()).unwrap_or(2))
    }

    /// The code and its name.
    pub(crate) fn text(self) -> &'static str {
        STATUSES.get(usize::from(self.0)).copied().unwrap_or("2 UNKNOWN")
    }

    /// Whether it says that there is no answer, so that asking again, or somebody else, may give one.
    ///
    /// That are the codes which HTTP would express as 5xx or 429 (UNKNOWN, `DEADLINE_EXCEEDED`, `RESOURCE_EXHAUSTED`,
    /// UNIMPLEMENTED, INTERNAL, UNAVAILABLE, `DATA_LOSS`), those with which a call was given up (CANCELLED), and those
    /// with which it has to be made again although nothing was wrong with it (ABORTED). All others are answers: the
    /// server has looked at the request and any other instance would say the same.
    pub(crate) const fn is_failure(self) -> bool {
        matches!(self.0, 1 | 2 | 4 | 8 | 10 | 12 | 13 | 14 | 15)
    }
}

/// Whether a `content-type` is that of gRPC: `application/grpc`, alone or with `+proto` or parameters. That of
/// gRPC-Web, which has its trailers in the content, is another.
pub(super) fn is_grpc(content_type: &[u8]) -> bool {
    let name = b"application/grpc";
    content_type.split_at_checked(name.len()).is_some_and(|(start, rest)| {
        start.eq_ignore_ascii_case(name) && matches!(rest.first(), None | Some(b'+' | b';' | b' '))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_code_and_name() {
        assert_eq!(Status::parse(b"0").text(), "0 OK");
        assert_eq!(Status::parse(b"14").text(), "14 UNAVAILABLE");
        for value in [&b"17"[..], b"", b"-1", b"999", b"\xff"] {
            assert_eq!(Status::parse(value).text(), "2 UNKNOWN");
        }
    }

    #[test]
    fn failures_are_no_answers() {
        let failed: Vec<u8> = (0..=16).filter(|&code| Status(code).is_failure()).collect();
        assert_eq!(failed, [1, 2, 4, 8, 10, 12, 13, 14, 15]);
    }

    #[test]
    fn content_types() {
        for yes in ["application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"] {
            assert!(is_grpc(yes.as_bytes()), "{yes}");
        }
        for no in ["", "application/json", "application/grpc-web+proto", "application/grp"] {
            assert!(!is_grpc(no.as_bytes()), "{no}");
        }
    }
}
