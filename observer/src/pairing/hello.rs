//! What a TLS client offers to speak: the extension that names protocols (RFC 7301) in its first message
//! (RFC 8446, section 4.1.2).

/// Extension number of application-layer protocol negotiation.
const PROTOCOLS: u16 = 16;
/// Bytes in front of the session id: record header, message header, version, random.
const FIXED: usize = 5 + 4 + 2 + 32;

/// Whether the client offers HTTP/2, whose streams would be interleaved where nobody can tell them apart. Nothing
/// where the message is not whole, so that the answer is not known.
pub(super) fn offers_http2(hello: &[u8]) -> Option<bool> {
    let length = u32::from_be_bytes([0, *hello.get(6)?, *hello.get(7)?, *hello.get(8)?]);
    let whole = hello.len() >= 9 + usize::try_from(length).ok()?;
    let mut rest = Bytes(hello.get(FIXED..)?);
    rest.skip_vector(1)?; // session id
    rest.skip_vector(2)?; // cipher suites
    rest.skip_vector(1)?; // compression methods
    if rest.0.is_empty() {
        return whole.then_some(false);
    }
    let length = usize::from(rest.number()?);
    let mut extensions = Bytes(rest.0.get(..length).unwrap_or(rest.0));
    while !extensions.0.is_empty() {
        let kind = extensions.number()?;
        let extension = extensions.vector(2)?;
        if kind == PROTOCOLS {
            let mut protocols = Bytes(Bytes(extension).vector(2)?);
            while !protocols.0.is_empty() {
                if protocols.vector(1)? == b"h2" {
                    return Some(true);
                }
            }
            return Some(false);
        }
    }
    whole.then_some(false)
}

/// What is left of a message.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn number(&mut self) -> Option<u16> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(*number))
    }

    /// Bytes behind their own length, which takes one byte or two.
    fn vector(&mut self, length_bytes: usize) -> Option<&'a [u8]> {
        let length = if length_bytes == 1 {
            let (length, rest) = self.0.split_first()?;
            self.0 = rest;
            usize::from(*length)
        } else {
            usize::from(self.number()?)
        };
        let (vector, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(vector)
    }

    fn skip_vector(&mut self, length_bytes: usize) -> Option<()> {
        self.vector(length_bytes).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client's first message with these extensions.
    fn hello(extensions: &[(u16, &[u8])]) -> Vec<u8> {
        let mut message = vec![0x16, 3, 1, 0, 0, 1, 0, 0, 0, 3, 3];
        message.extend([7; 32]);
        message.extend([0]); // no session id
        message.extend([0, 2, 0x13, 0x01]);
        message.extend([1, 0]);
        let mut block = Vec::new();
        for (kind, data) in extensions {
            block.extend(kind.to_be_bytes());
            block.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
            block.extend(*data);
        }
        message.extend(u16::try_from(block.len()).unwrap().to_be_bytes());
        message.extend(block);
        let length = u32::try_from(message.len() - 9).unwrap().to_be_bytes();
        message[6..9].copy_from_slice(&length[1..]);
        message
    }

    #[test]
    fn offers_are_found() {
        let both = hello(&[(0, b"name"), (16, b"\0\x0c\x02h2\x08http/1.1")]);
        assert_eq!(offers_http2(&both), Some(true));
        let one = hello(&[(16, b"\0\x09\x08http/1.1"), (43, b"\x02\x03\x04")]);
        assert_eq!(offers_http2(&one), Some(false));
        assert_eq!(offers_http2(&hello(&[(43, b"\x02\x03\x04")])), Some(false));
        assert_eq!(offers_http2(&hello(&[])), Some(false));
    }

    #[test]
    fn a_cut_message_tells_nothing_about_what_is_missing() {
        let whole = hello(&[(0, b"name"), (16, b"\0\x0c\x02h2\x08http/1.1")]);
        for length in 0..whole.len() {
            assert_eq!(offers_http2(&whole[..length]), None, "{length}");
        }
    }
}
