//! What the first payload bytes of a message say about its protocol.

/// How many payload bytes are looked at: enough for an HTTP/1 status line up to its code.
pub const HEAD_LENGTH: usize = 12;

/// How many bytes are looked at where fewer came.
pub const FEW: usize = 8;
/// Bytes of the version that begins a status line, but for its last digit.
const VERSION: u32 = 7;

/// The protocol that a connection speaks, as far as its payload has told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(u8)]
pub enum Protocol {
    /// Not recognised: paired by direction.
    #[default]
    Unknown = 0,
    /// HTTP/1.0 or HTTP/1.1.
    Http1 = 1,
    /// TLS records.
    Tls = 2,
    /// HTTP/2 with prior knowledge.
    Http2 = 3,
    /// An HTTP/1.1 connection that switched to something else (`101`).
    Upgraded = 4,
    /// It looked like HTTP and is not (Redis takes `GET key` too): paired by direction.
    Other = 5,
    /// MySQL or MariaDB: paired by direction, but for the commands that have no answer.
    Mysql = 6,
}

impl Protocol {
    /// Whether a status says that the answer is no answer to the request: the server failed, or was too busy
    /// (RFC 9110, section 15.6; RFC 6585, section 4).
    pub const fn is_failure(self, status: u32) -> bool {
        matches!(self, Self::Http1) && (status >= 500 || status == 429)
    }

    /// The name in reports and recordings; nothing where the protocol is not known.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Unknown | Self::Other => None,
            Self::Http1 => Some("http1"),
            Self::Tls => Some("tls"),
            Self::Http2 => Some("http2"),
            Self::Upgraded => Some("upgraded"),
            Self::Mysql => Some("mysql"),
        }
    }
}

/// What the first bytes of a segment are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// They were not loaded, or are too few to tell.
    Unknown,
    /// None of the below.
    Other,
    /// The first line of an HTTP/1 request.
    HttpRequest,
    /// The status line of an HTTP/1 response, with its code.
    HttpResponse(u16),
    /// A TLS record.
    TlsRecord,
    /// The connection preface of HTTP/2 (RFC 9113, section 3.4).
    Http2Preface,
    /// What a MySQL server says first: a packet of some hundred bytes at most, numbered 0, of version 10.
    MysqlGreeting,
    /// The status line of an HTTP/1 response, or as much of it as came before its code.
    HttpCut,
    /// The settings of HTTP/2, with which a server begins (RFC 9113, section 3.4).
    Http2Settings,
    /// The header with which a proxy tells whom it speaks for: PROXY protocol, version 1 or 2.
    ProxyHeader,
}

/// [`Head`] without what it carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(u8)]
pub enum HeadKind {
    /// [`Head::Unknown`].
    #[default]
    Unknown,
    /// [`Head::Other`].
    Other,
    /// [`Head::HttpRequest`].
    HttpRequest,
    /// [`Head::HttpResponse`].
    HttpResponse,
    /// [`Head::TlsRecord`].
    TlsRecord,
    /// [`Head::Http2Preface`].
    Http2Preface,
    /// [`Head::MysqlGreeting`].
    MysqlGreeting,
    /// [`Head::HttpCut`].
    HttpCut,
    /// [`Head::Http2Settings`].
    Http2Settings,
    /// [`Head::ProxyHeader`].
    ProxyHeader,
}

const fn ascii(text: [u8; 4]) -> u32 {
    u32::from_be_bytes(text)
}

impl Head {
    /// Which of them it is.
    #[inline(always)]
    pub(crate) const fn kind(self) -> HeadKind {
        match self {
            Self::Unknown => HeadKind::Unknown,
            Self::Other => HeadKind::Other,
            Self::HttpRequest => HeadKind::HttpRequest,
            Self::HttpResponse(_) => HeadKind::HttpResponse,
            Self::TlsRecord => HeadKind::TlsRecord,
            Self::Http2Preface => HeadKind::Http2Preface,
            Self::MysqlGreeting => HeadKind::MysqlGreeting,
            Self::HttpCut => HeadKind::HttpCut,
            Self::Http2Settings => HeadKind::Http2Settings,
            Self::ProxyHeader => HeadKind::ProxyHeader,
        }
    }

    /// The code of a status line, 0 for everything else.
    #[inline(always)]
    pub(crate) const fn status(self) -> u16 {
        match self {
            Self::HttpResponse(status) => status,
            _ => 0,
        }
    }

    /// Recognises a message by its first bytes.
    #[inline(always)]
    pub fn of(bytes: &[u8; HEAD_LENGTH]) -> Self {
        let [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11] = *bytes;
        let first = ascii([b0, b1, b2, b3]);
        let second = ascii([b4, b5, b6, b7]);
        if first == ascii(*b"HTTP") {
            // "HTTP/1." DIGIT SP 3DIGIT (RFC 9112, section 4)
            let digits = b9.is_ascii_digit() && b10.is_ascii_digit() && b11.is_ascii_digit();
            if second & 0xffff_ff00 == ascii(*b"/1.\0") && b8 == b' ' && digits {
                let digit = |byte: u8| u16::from(byte - b'0');
                let status = digit(b9) * 100 + digit(b10) * 10 + digit(b11);
                return Self::HttpResponse(status);
            }
            return Self::Other;
        }
        // Change cipher spec, alert, handshake, application data (RFC 8446, section 5.1).
        if matches!(b0, 0x14..=0x17) && b1 == 0x03 && b2 <= 0x04 {
            return Self::TlsRecord;
        }
        if first == ascii(*b"PRI ") && second == ascii(*b"* HT") {
            return Self::Http2Preface;
        }
        if b1 | b2 | b3 == 0 && b0 >= 32 && b4 == 10 && (b5.is_ascii_digit()) && (b6 == b'.' || b7 == b'.') {
            return Self::MysqlGreeting;
        }
        if b0 | b1 | b4 | b5 | b6 | b7 | b8 == 0 && b3 == 4 && b2.is_multiple_of(6) {
            return Self::Http2Settings;
        }
        let third = ascii([b8, b9, b10, b11]);
        if (first == ascii(*b"PROX") && second & 0xffff_0000 == ascii(*b"Y \0\0"))
            || (first == ascii(*b"\r\n\r\n") && second == ascii(*b"\0\r\nQ") && third == ascii(*b"UIT\n"))
        {
            return Self::ProxyHeader;
        }
        let method = first == ascii(*b"GET ")
            || first == ascii(*b"PUT ")
            || (first == ascii(*b"POST") && b4 == b' ')
            || (first == ascii(*b"HEAD") && b4 == b' ')
            || (first == ascii(*b"PATC") && second & 0xffff_0000 == ascii(*b"H \0\0"))
            || (first == ascii(*b"DELE") && second & 0xffff_ff00 == ascii(*b"TE \0"))
            || (first == ascii(*b"TRAC") && second & 0xffff_0000 == ascii(*b"E \0\0"))
            || (first == ascii(*b"OPTI") && second == ascii(*b"ONS "))
            || (first == ascii(*b"CONN") && second == ascii(*b"ECT "));
        if method { Self::HttpRequest } else { Self::Other }
    }

    /// What an answer of HTTP/1 is that begins with a segment of fewer than [`HEAD_LENGTH`] bytes: the first `length`
    /// of `bytes`.
    #[inline(always)]
    pub fn of_few(bytes: [u8; FEW], length: u32) -> Self {
        let length = if length > VERSION { VERSION } else { length };
        if length == 0 {
            return Self::Unknown;
        }
        let differs = u64::from_be_bytes(bytes) ^ u64::from_be_bytes(*b"HTTP/1.\0");
        if differs.wrapping_shr(64 - 8 * length) == 0 { Self::HttpCut } else { Self::Other }
    }
}

/// How many bytes tell a MySQL command: length, number, command.
pub const MYSQL_COMMAND: usize = 5;

/// Whether these bytes begin a MySQL packet of `length` bytes in all that has no answer: `COM_QUIT`,
/// `COM_STMT_SEND_LONG_DATA`, `COM_STMT_CLOSE`.
#[inline(always)]
pub const fn mysql_is_unanswered(bytes: [u8; MYSQL_COMMAND], length: u32) -> bool {
    let [b0, b1, b2, number, command] = bytes;
    let payload = u32::from_be_bytes([0, b2, b1, b0]);
    number == 0 && payload + 4 == length && matches!(command, 0x01 | 0x18 | 0x19)
}

/// Whether these bytes, in a conversation of MySQL, begin a record of TLS: a handshake, numbered as no packet is.
#[inline(always)]
pub const fn mysql_is_encrypted(bytes: [u8; MYSQL_COMMAND]) -> bool {
    bytes[0] == 0x16 && bytes[1] == 0x03 && bytes[2] <= 0x04 && bytes[3] >= 0x01
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_recognised() {
        for method in [
            "GET /",
            "PUT /",
            "POST /",
            "HEAD /",
            "PATCH /",
            "DELETE /",
            "TRACE /",
            "OPTIONS *",
            "CONNECT a:1",
        ] {
            let line = std::format!("{method} HTTP/1.1\r\n\r\n");
            assert_eq!(
                Head::of(line.as_bytes()[..HEAD_LENGTH].try_into().unwrap()),
                Head::HttpRequest,
                "{method}"
            );
        }
        assert_eq!(Head::of(b"HTTP/1.1 503"), Head::HttpResponse(503));
        assert_eq!(Head::of(b"HTTP/1.0 200"), Head::HttpResponse(200));
        assert_eq!(Head::of(b"HTTP/1.1 2x0"), Head::Other);
        assert_eq!(Head::of(b"PRI * HTTP/2"), Head::Http2Preface);
        assert_eq!(Head::of(b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\0"), Head::TlsRecord);
        assert_eq!(Head::of(b"*1\r\n$4\r\nPING"), Head::Other);
        assert_eq!(Head::of(b"GETS key\r\n\r\n"), Head::Other);
        assert_eq!(Head::of(b"PROXY TCP4 1"), Head::ProxyHeader);
        assert_eq!(Head::of(b"\r\n\r\n\0\r\nQUIT\n"), Head::ProxyHeader);
        assert_eq!(Head::of(b"\0\0\x12\x04\0\0\0\0\0\0\x03\0"), Head::Http2Settings);
    }

    #[test]
    fn a_few_bytes_may_begin_a_status_line() {
        for (bytes, length, head) in [
            (b"H\0\0\0\0\0\0\0", 1, Head::HttpCut),
            (b"HTTP/1.1", 8, Head::HttpCut),
            (b"HTTP/2.0", 8, Head::Other),
            (b"$-1\r\n\0\0\0", 5, Head::Other),
            (b"\r\n\0\0\0\0\0\0", 2, Head::Other),
            (b"\0\0\0\0\0\0\0\0", 0, Head::Unknown),
        ] {
            assert_eq!(Head::of_few(*bytes, length), head, "{bytes:?}");
        }
    }
}
