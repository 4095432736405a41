//! What a request and its response begin with: enough to name the request and to tell a failed answer.

/// Bytes kept of a request: a request line, a command with its key, the start of a statement.
pub const REQUEST_HEAD: usize = 128;
/// Bytes kept of a response: a status line, an error word, the first messages of a database.
pub const RESPONSE_HEAD: usize = 64;

/// The first bytes of both messages of one exchange.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct Heads {
    /// The response's.
    pub response: [u8; RESPONSE_HEAD],
    /// The request's.
    pub request: [u8; REQUEST_HEAD],
}

/// How many bytes of [`Heads`] are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "host",
    derive(zerocopy::TryFromBytes, zerocopy::Immutable, zerocopy::KnownLayout, zerocopy::IntoBytes)
)]
#[repr(C)]
pub struct Kept {
    /// Of the request's.
    pub request: u8,
    /// Of the response's.
    pub response: u8,
}

impl Default for Heads {
    fn default() -> Self {
        Self { response: [0; RESPONSE_HEAD], request: [0; REQUEST_HEAD] }
    }
}

impl Heads {
    /// The valid bytes of the request.
    pub fn request(&self, kept: Kept) -> &[u8] {
        self.request.get(..usize::from(kept.request)).unwrap_or(&self.request)
    }

    /// The valid bytes of the response.
    pub fn response(&self, kept: Kept) -> &[u8] {
        self.response.get(..usize::from(kept.response)).unwrap_or(&self.response)
    }
}
