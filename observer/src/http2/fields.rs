//! The header fields that matter, of one block.

use super::{grpc, grpc::Status};

/// Bytes of a method's name that are kept: the longest registered one has 17.
const MOST_METHOD: usize = 24;

/// Bytes of a path that are kept.
const MOST_PATH: usize = 1024;

/// What one header block says. Kept and cleared, so that its buffers are used again.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// `:method`, where it was seen.
    pub(super) method: Option<Text>,
    /// `:path`, where it was seen.
    pub(super) path: Option<Text>,
    /// `:status`, where it was seen and is one.
    pub(super) status: Option<[u8; 3]>,
    /// `grpc-status`, where it was seen.
    pub(super) grpc_status: Option<Status>,
    /// Whether `content-type` is that of gRPC, where it was seen.
    pub(super) grpc: Option<bool>,
    /// Whether there was any field that begins with a colon: no trailers (RFC 9113, section 8.1).
    pub(super) pseudo: bool,
    /// Whether all fields were seen, so that one which was not seen is not there.
    pub(super) complete: bool,
    /// Buffers that are not in use.
    spare: Vec<Vec<u8>>,
}

/// The beginning of a field's value.
#[derive(Debug)]
pub(super) struct Text {
    bytes: Vec<u8>,
    /// Whether there was more.
    pub(super) truncated: bool,
}

impl Text {
    /// The text. Nothing of what neither methods nor paths may be: not UTF-8, or with control characters, which
    /// somebody's terminal would obey.
    pub(super) fn text(&self) -> Option<&str> {
        let text = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            // Cut in the middle of a character.
            Err(error) if error.error_len().is_none() && self.truncated => {
                std::str::from_utf8(self.bytes.get(..error.valid_up_to())?).ok()?
            }
            Err(_) => return None,
        };
        (!text.contains(char::is_control)).then_some(text)
    }
}

impl Fields {
    /// Forgets the block before. `complete` holds until a field is hidden.
    pub(super) fn clear(&mut self, complete: bool) {
        self.spare.extend(self.method.take().map(|text| text.bytes));
        self.spare.extend(self.path.take().map(|text| text.bytes));
        self.status = None;
        self.grpc_status = None;
        self.grpc = None;
        self.pseudo = false;
        self.complete = complete;
    }

    /// Takes in one field; nothing stands for one that could not be read. Of fields that must not be repeated the
    /// first counts.
    pub(super) fn add(&mut self, field: Option<(&[u8], &[u8])>) {
        let Some((name, value)) = field else {
            self.complete = false;
            return;
        };
        match name {
            b":method" if self.method.is_none() => self.method = Some(self.keep(value, MOST_METHOD)),
            b":path" if self.path.is_none() => self.path = Some(self.keep(value, MOST_PATH)),
            b":status" if self.status.is_none() => self.status = status(value),
            b"grpc-status" if self.grpc_status.is_none() => self.grpc_status = Some(Status::parse(value)),
            b"content-type" if self.grpc.is_none() => self.grpc = Some(grpc::is_grpc(value)),
            _ => {}
        }
        self.pseudo |= name.first() == Some(&b':');
    }

    fn keep(&mut self, value: &[u8], most: usize) -> Text {
        let kept = value.get(..most).unwrap_or(value);
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(kept);
        Text { bytes, truncated: kept.len() < value.len() }
    }
}

/// A three-digit status code (RFC 9110, section 15).
fn status(value: &[u8]) -> Option<[u8; 3]> {
    let digits: [u8; 3] = value.try_into().ok()?;
    (digits.iter().all(u8::is_ascii_digit) && digits[0] != b'0').then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_digits_are_a_status() {
        assert_eq!(status(b"200"), Some(*b"200"));
        for no in [&b""[..], b"20", b"2000", b"2x0", b"099"] {
            assert_eq!(status(no), None);
        }
    }

    #[test]
    fn long_paths_are_cut_between_characters() {
        let mut fields = Fields::default();
        fields.clear(true);
        let path = format!("/{}", "é".repeat(MOST_PATH));
        fields.add(Some((b":path", path.as_bytes())));
        let kept = fields.path.as_ref().unwrap();
        assert!(kept.truncated);
        assert_eq!(kept.text().unwrap().len(), MOST_PATH - 1);
        fields.clear(true);
        fields.add(Some((b":path", b"/\x1b[2J")));
        assert_eq!(fields.path.as_ref().unwrap().text(), None);
        fields.clear(true);
        fields.add(Some((b":path", b"/\xff")));
        assert_eq!(fields.path.as_ref().unwrap().text(), None);
        fields.add(Some((b":path", b"/second")));
        assert_eq!(fields.path.as_ref().unwrap().text(), None);
    }
}
