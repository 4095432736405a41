//! What the backend's first messages say.

use super::{
    super::Turn,
    message::{Messages, text},
};

/// The types of messages that a backend sends.
const TYPES: &[u8] = b"123ACDEGHIKNRSTVWZcdnstv";
/// The types that an answer to a query begins with.
const FIRST: &[u8] = b"123CDEGHINSTWZnst";

/// What was seen of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer<'a> {
    /// The SQLSTATE of an error; empty where it lies beyond what was kept.
    pub(super) error: Option<&'a [u8]>,
    /// How many statements were seen to be prepared.
    pub(super) parsed: usize,
    /// Whether a command was completed before any error.
    pub(super) completed: bool,
    /// Whether data is copied from here on.
    pub(super) copies: bool,
    /// Whether it begins with a notification, which is no answer.
    pub(super) notifies: bool,
}

impl<'a> Answer<'a> {
    /// Reads the response of a turn.
    pub(super) fn of(turn: &Turn<'a>) -> Self {
        let mut answer = Self::default();
        for (index, message) in Messages::new(turn.response, turn.response_bytes).enumerate() {
            match message.kind {
                b'1' => answer.parsed += 1,
                b'C' | b'I' | b's' => answer.completed = true,
                b'G' | b'H' | b'W' | b'd' => answer.copies = true,
                b'A' if index == 0 => answer.notifies = true,
                b'E' => {
                    answer.error = Some(state(message.body));
                    break;
                }
                kind if !TYPES.contains(&kind) => break,
                _ => {}
            }
        }
        answer
    }
}

/// Whether a response begins as an answer to a query does.
pub(super) fn is_answer(turn: &Turn<'_>) -> bool {
    let mut messages = Messages::new(turn.response, turn.response_bytes);
    messages.next().is_some_and(|message| FIRST.contains(&message.kind) && message.end <= turn.response_bytes)
}

/// The SQLSTATE among the fields of an error; empty where it was not kept.
fn state(fields: &[u8]) -> &[u8] {
    let mut rest = fields;
    while let Some((&field, value)) = rest.split_first() {
        let Some((value, after)) = text(value) else {
            return b"";
        };
        if field == b'C' {
            let is_state = value.len() == 5 && value.iter().all(u8::is_ascii_alphanumeric);
            return if is_state { value } else { b"" };
        }
        rest = after;
    }
    b""
}
