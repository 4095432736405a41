//! The protocol of the logging client and server, and the mixture of requests that they exchange.
//!
//! A request is `length: u32 · id: u64 · body: u32 · delay: u32 · parts: u32 · padding`, a response
//! `length: u32 · body`, all numbers big-endian, each length counting what follows it.

use std::time::Duration;

/// Length of the length prefix, which is also the shortest response.
pub const PREFIX: u32 = 4;

/// Length of a request without padding.
pub const HEADER: u32 = PREFIX + 8 + 4 + 4 + 4;

/// The pause between two parts of a split response: long enough that they leave as separate segments.
pub const PAUSE: Duration = Duration::from_micros(300);

/// The large response of a mixture.
pub const LARGE: u32 = 10_000_000;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its number, unique within one client.
    pub id: u64,
    /// How many bytes the response's body has; 0 asks for the bare prefix.
    pub body: u32,
    /// How long the server waits before it answers.
    pub delay: Duration,
    /// In how many writes the server answers, with pauses in between; at least 1.
    pub parts: u32,
    /// How many bytes follow the header.
    pub padding: u32,
}

impl Request {
    /// A request for `body` bytes at once.
    pub const fn new(id: u64, body: u32) -> Self {
        Self { id, body, delay: Duration::ZERO, parts: 1, padding: 0 }
    }

    /// Request number `index` of `total` on a connection, of which `large` ask for [`LARGE`] bytes.
    ///
    /// The same arguments give the same request. Most are small and quick; every now and then one is answered
    /// late, in parts, with a long body, or carries a long body itself.
    pub fn of_mixture(id: u64, index: u32, total: u32, large: u32) -> Self {
        let mut request = Self::new(id, if index.is_multiple_of(5) { 0 } else { index % 1500 });
        if index % 97 == 13 {
            request.delay = Duration::from_millis(2);
        }
        if index % 89 == 7 {
            request.parts = 2 + index % 4;
            request.body = request.body.max(64);
        }
        if index % 83 == 5 {
            request.padding = 20_000;
        }
        if index % 71 == 3 {
            request.body = 100_000;
        }
        let spacing = (total / (large + 1)).max(1);
        if large > 0 && index > 0 && index.is_multiple_of(spacing) && index / spacing <= large {
            request = Self { body: LARGE, ..Self::new(id, 0) };
        }
        request
    }

    /// How many bytes the request takes on the wire.
    pub fn request_bytes(&self) -> u64 {
        u64::from(HEADER) + u64::from(self.padding)
    }

    /// How many bytes the response takes on the wire.
    pub fn response_bytes(&self) -> u64 {
        u64::from(PREFIX) + u64::from(self.body)
    }

    /// Appends the request's bytes.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let length = HEADER - PREFIX + self.padding;
        let delay = u32::try_from(self.delay.as_micros()).unwrap_or(u32::MAX);
        bytes.extend(length.to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        for field in [self.body, delay, self.parts] {
            bytes.extend(field.to_be_bytes());
        }
        bytes.resize(bytes.len() + self.padding as usize, b'.');
    }

    /// Reads a request's header.
    pub fn decode(header: &[u8; HEADER as usize]) -> Self {
        let number =
            |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        Self {
            id: u64::from(number(4)) << 32 | u64::from(number(8)),
            body: number(12),
            delay: Duration::from_micros(u64::from(number(16))),
            parts: number(20).max(1),
            padding: number(0).saturating_sub(HEADER - PREFIX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_survive_the_wire() {
        for index in 0..2000 {
            let request = Request::of_mixture(7 << 32 | u64::from(index), index, 2000, 3);
            let mut bytes = Vec::new();
            request.encode(&mut bytes);
            assert_eq!(bytes.len() as u64, request.request_bytes());
            assert_eq!(Request::decode(bytes[..HEADER as usize].try_into().unwrap()), request);
        }
    }

    #[test]
    fn a_mixture_has_as_many_large_responses_as_asked() {
        for large in 0..4 {
            let count =
                (0..500).filter(|index| Request::of_mixture(0, *index, 500, large).body == LARGE).count();
            assert_eq!(count, large as usize);
        }
    }
}
