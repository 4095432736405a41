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
    /// The request's.
    pub request: [u8; REQUEST_HEAD],
    /// The response's.
    pub response: [u8; RESPONSE_HEAD],
    /// How many bytes of the request's are valid.
    pub request_kept: u8,
    /// How many bytes of the response's are valid.
    pub response_kept: u8,
    /// Keeps the layout free of holes.
    pub reserved: [u8; 2],
}

impl Default for Heads {
    fn default() -> Self {
        Self {
            request: [0; REQUEST_HEAD],
            response: [0; RESPONSE_HEAD],
            request_kept: 0,
            response_kept: 0,
            reserved: [0; 2],
        }
    }
}

impl Heads {
    /// The valid bytes of the request.
    pub fn request(&self) -> &[u8] {
        self.request.get(..usize::from(self.request_kept)).unwrap_or(&self.request)
    }

    /// The valid bytes of the response.
    pub fn response(&self) -> &[u8] {
        self.response.get(..usize::from(self.response_kept)).unwrap_or(&self.response)
    }
}
