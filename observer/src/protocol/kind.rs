//! The protocols whose messages are read here.

/// A protocol, or that it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Unknown,
    Http1,
    Http2,
    Upgraded,
    Tls,
    Redis,
    PostgreSql,
    MySql,
    Memcached,
}

impl Kind {
    /// How many there are.
    pub(super) const COUNT: usize = 9;

    /// The name in reports and recordings.
    pub(super) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Unknown => None,
            Self::Http1 => Some("http1"),
            Self::Http2 => Some("http2"),
            Self::Upgraded => Some("upgraded"),
            Self::Tls => Some("tls"),
            Self::Redis => Some("redis"),
            Self::PostgreSql => Some("postgresql"),
            Self::MySql => Some("mysql"),
            Self::Memcached => Some("memcached"),
        }
    }

    /// Whether its messages cannot be read, so that only their sizes tell requests apart.
    pub(super) const fn is_opaque(self) -> bool {
        matches!(self, Self::Unknown | Self::Tls | Self::Http2 | Self::Upgraded)
    }
}
