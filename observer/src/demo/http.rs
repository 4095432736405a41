//! The few messages of HTTP/1.1 that the demo speaks: `GET` and an answer whose length is announced.

use std::io::Write;

/// More headers than the demo ever sends.
const HEADERS: usize = 16;
/// A longer message is not one of the demo's.
const LONGEST_MESSAGE: usize = 64 * 1024;

/// What was received is no message of the demo.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    /// It is no HTTP at all.
    #[error("received something that is not HTTP/1.1: {0}")]
    Syntax(#[from] httparse::Error),
    /// It is HTTP, but its end cannot be told.
    #[error("received an HTTP/1.1 message without a usable Content-Length")]
    Length,
}

/// A response that has arrived as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Response {
    /// Its status code.
    pub(super) status: u16,
    /// Its length with head and body, in bytes.
    pub(super) length: usize,
}

/// The length of the request that `received` begins with, or nothing before all of it is there.
pub(super) fn request(received: &[u8]) -> Result<Option<usize>, HttpError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(received)? {
        httparse::Status::Complete(length) => Ok(Some(length)),
        httparse::Status::Partial if received.len() > LONGEST_MESSAGE => Err(HttpError::Length),
        httparse::Status::Partial => Ok(None),
    }
}

/// The response that `received` begins with, or nothing before all of it is there.
pub(super) fn response(received: &[u8]) -> Result<Option<Response>, HttpError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(received)? else {
        return if received.len() > LONGEST_MESSAGE { Err(HttpError::Length) } else { Ok(None) };
    };
    let status = response.code.ok_or(HttpError::Length)?;
    let body: usize = headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("content-length"))
        .and_then(|header| str::from_utf8(header.value).ok()?.parse().ok())
        .filter(|&body| body <= LONGEST_MESSAGE)
        .ok_or(HttpError::Length)?;
    let length = head + body;
    Ok((received.len() >= length).then_some(Response { status, length }))
}

/// Writes a request for `path`.
pub(super) fn write_request(
    to: &mut impl Write,
    host: impl std::fmt::Display,
    path: &str,
) -> std::io::Result<()> {
    write!(to, "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: observer-demo\r\n\r\n")
}

/// Writes a successful response with a body of `length` bytes.
pub(super) fn write_response(to: &mut impl Write, length: usize) -> std::io::Result<()> {
    write!(to, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n")?;
    to.write_all(&vec![b'.'; length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_complete_with_its_last_byte_and_not_before() {
        let mut bytes = Vec::new();
        write_request(&mut bytes, "127.0.0.11:80", "/item/7").unwrap();
        for end in 0..bytes.len() {
            assert_eq!(request(&bytes[..end]).unwrap(), None, "{end}");
        }
        let length = bytes.len();
        bytes.extend(b"GET /next");
        assert_eq!(request(&bytes).unwrap(), Some(length));
    }

    #[test]
    fn a_response_is_complete_with_its_last_byte_and_not_before() {
        for body in [0, 1, 3_000] {
            let mut bytes = Vec::new();
            write_response(&mut bytes, body).unwrap();
            for end in 0..bytes.len() {
                assert_eq!(response(&bytes[..end]).unwrap(), None, "{end}");
            }
            assert_eq!(response(&bytes).unwrap(), Some(Response { status: 200, length: bytes.len() }));
        }
    }

    #[test]
    fn what_cannot_be_framed_is_refused() {
        assert!(matches!(response(b"HTTP/1.1 200 OK\r\n\r\n"), Err(HttpError::Length)));
        assert!(matches!(
            response(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"),
            Err(HttpError::Length)
        ));
        assert!(matches!(response(b"SSH-2.0-OpenSSH_9.2\r\n"), Err(HttpError::Syntax(_))));
        assert!(matches!(request(b"\x16\x03\x01\x02\0\x01\0"), Err(HttpError::Syntax(_))));
    }
}
